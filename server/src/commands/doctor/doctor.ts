import type { Command } from "commander";
import { addSettingFlags, placeFlags, settingsOf } from "../../config/flags.js";
import type { Tone } from "../../terminal/colour.js";
import { CommandFailure } from "../../terminal/failure.js";
import { createPrinter } from "../../terminal/printer.js";
import type { Printer } from "../../terminal/printer.js";
import type { CommandContext } from "../command-context.js";
import type { Finding } from "./diagnosis.js";

const TONES: Readonly<Record<Finding["level"], Tone>> = { ok: "good", warn: "warn", fail: "bad" };

/** Adds `posthorn doctor`. */
export function registerDoctor(program: Command, context: CommandContext): void {
  const command = program
    .command("doctor")
    .description(
      "Look for what an installation can get wrong: durability, clocks, windows, schema, disk, key.",
    )
    .option("--json", "Print JSON, for scripts.");
  addSettingFlags(command).addHelpText(
    "after",
    ["", "Example:", "  posthorn doctor --config /etc/posthorn/posthorn.yaml"].join("\n"),
  );
  command.action(() => doctor(command, context));
}

async function doctor(command: Command, { terminal, environment, clock }: CommandContext): Promise<void> {
  const { json } = command.opts<{ readonly json?: boolean }>();
  const print = createPrinter({ terminal, json: json === true, now: () => clock.now() });
  const { settings, warnings } = settingsOf(command, { environment, workingDir: process.cwd() });
  for (const { where, message } of warnings) print.warn(`${where}: ${message}`);
  // Here and not at the top: other commands would wait for databases that they do not open.
  const { examine } = await import("./examination.js");
  const findings = await examine(settings, clock, placeFlags(command));
  const told = findings.map((finding) => ({ ...finding, cure: finding.cure ?? null }));
  print.show({ findings: told }, () => draw(findings, print));
  const failures = findings.filter(({ level }) => level === "fail").length;
  if (failures > 0) {
    throw new CommandFailure("failed", `${failures} of ${findings.length} checks failed.`, {
      code: "doctor_failed",
    });
  }
}

function draw(findings: readonly Finding[], print: Printer): void {
  for (const { check, level, found, cure } of findings) {
    print.line({ text: level.padEnd(5), tone: TONES[level] }, { text: check, tone: "strong" }, `: ${found}`);
    if (cure !== undefined) print.line(`     ${cure}`);
  }
}
