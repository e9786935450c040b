import type { Command } from "commander";
import { addSettingFlags, settingsOf } from "../../config/flags.js";
import { NO_SEAL } from "../../secrets/seal.js";
import { confirm } from "../../terminal/confirm.js";
import { count } from "../../terminal/for-people.js";
import { createPrinter } from "../../terminal/printer.js";
import type { CommandContext } from "../command-context.js";

/** Adds `posthorn restored`. */
export function registerRestored(program: Command, context: CommandContext): void {
  const command = program
    .command("restored")
    .description(
      "After a backup was restored, and before a server starts on it: let receivers see that sequences begin anew.",
    )
    .option("-y, --yes", "Do not ask.")
    .option("--json", "Print JSON, for scripts.");
  addSettingFlags(command).addHelpText(
    "after",
    ["", "Example:", "  posthorn restored --data-dir /var/lib/posthorn"].join("\n"),
  );
  command.action(() => restored(command, context));
}

async function restored(command: Command, { terminal, environment, clock }: CommandContext): Promise<void> {
  const { json, yes } = command.opts<{ readonly json?: boolean; readonly yes?: boolean }>();
  const print = createPrinter({ terminal, json: json === true, now: () => clock.now() });
  const { settings } = settingsOf(command, { environment, workingDir: process.cwd() });
  // Here and not at the top: other commands would wait for databases that they do not open.
  const { openStore } = await import("../../store/open-store.js");
  const { tablesFailure } = await import("../../store/schema-age.js");
  // On SQLite this holds the data directory: with a server that runs, workers would go on under the old generations.
  const store = await openStore(settings, { seal: NO_SEAL });
  try {
    const age = await store.schemaAge();
    if (age !== "current") throw tablesFailure(age);
    await confirm(
      terminal,
      "Raise the generation of every lane? Receivers then forget what they know of the order before. Say yes only for a " +
        "database that was restored from a backup, while no server runs on it.",
      { yes: yes === true },
    );
    const lanes = await store.outbox.raiseGenerations();
    print.show({ lanes }, () => {
      print.line(`Raised the generation of ${count(lanes, "lane")}. Sequences begin anew; start the server.`);
    });
  } finally {
    await store.close();
  }
}
