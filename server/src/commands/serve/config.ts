import type { Command } from "commander";
import { findConfigFile } from "../../config/find-file.js";
import { addSettingFlags, settingsOf } from "../../config/flags.js";
import { loadSettings } from "../../config/load.js";
import { defaultFile, effectiveFile } from "../../config/print.js";
import { newToken } from "../../http/auth/new-token.js";
import { newMasterKey } from "../../secrets/master-key.js";
import { createPrinter } from "../../terminal/printer.js";
import type { Printer } from "../../terminal/printer.js";
import type { CommandContext } from "../command-context.js";

/** Adds `posthorn config` and what belongs to it. */
export function registerConfig(program: Command, context: CommandContext): void {
  const { terminal, clock, environment } = context;
  const print = createPrinter({ terminal, json: false, now: () => clock.now() });
  const command = program
    .command("config")
    .description("Print every setting with its default and what it means, as a configuration file.")
    .option("--effective", "Print what holds now, and from where; secrets are not shown.");
  addSettingFlags(command).addHelpText(
    "after",
    ["", "Examples:", "  posthorn config > posthorn.yaml", "  posthorn config --effective"].join("\n"),
  );
  command.action(() => {
    const { effective } = command.opts<{ readonly effective?: boolean }>();
    if (effective !== true) return print.block(defaultFile());
    const loaded = settingsOf(command, { environment, workingDir: process.cwd() });
    for (const { where, message } of loaded.warnings) print.warn(`${where}: ${message}`);
    print.block(effectiveFile(loaded));
  });
  addCheck(command, print);
  command
    .command("new-key")
    .description("Print a new master key.")
    .action(() => print.line(newMasterKey()));
  command
    .command("new-token")
    .description("Print a new token, for first_token.")
    .action(() => {
      print.line(
        newToken({ name: "first", scope: "full", expiresAt: undefined }, new Date(clock.now())).token,
      );
    });
}

function addCheck(config: Command, print: Printer): void {
  config
    .command("check <file>")
    .description("Say all that is wrong with a configuration file.")
    .addHelpText("after", "\nExample:\n  posthorn config check posthorn.yaml")
    .action((path: string) => {
      const workingDir = process.cwd();
      loadSettings({ file: findConfigFile(path, workingDir), workingDir });
      print.line({ text: `${path} is fine.`, tone: "good" });
    });
}
