import { writeFile } from "node:fs/promises";
import { parseArguments, type Command } from "./arguments.js";
import { misses } from "./goals.js";
import { thisMachine } from "./machine.js";
import { QUICK_BUDGET_MS } from "./plan.js";
import { Progress } from "./progress.js";
import { listSuites, suites } from "./registry.js";
import { reportOf } from "./report.js";
import { runSuite } from "./run-suite.js";
import type { Suite } from "./suite.js";
import { renderOutcome } from "./table.js";

/** 0: every goal met. 1: measured, a goal missed. 2: not measured. */
type ExitCode = 0 | 1 | 2;

async function main(args: readonly string[]): Promise<ExitCode> {
  const command = parseArguments(args, Object.keys(suites));
  if (command.kind === "list") {
    process.stdout.write(listSuites(suites));
    return 0;
  }
  if (command.kind === "mistake") {
    process.stderr.write(`bench: ${command.message}\n\n${listSuites(suites)}`);
    return 2;
  }
  const suite = await loadSuite(command.suite);
  if (typeof suite === "string") {
    process.stderr.write(`bench: ${command.suite} cannot run here: ${suite}\n`);
    return 2;
  }
  return run(suite, command);
}

const IMPORT_ERRORS = new Set<unknown>([
  "ERR_MODULE_NOT_FOUND",
  "ERR_PACKAGE_PATH_NOT_EXPORTED",
  "MODULE_NOT_FOUND",
]);

/** The suite, or the reason why it cannot run here. */
async function loadSuite(name: string): Promise<Suite | string> {
  try {
    const suite = await suites[name]?.load();
    return (await suite?.unavailable?.()) ?? suite ?? "it is not registered";
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || !IMPORT_ERRORS.has(error.code)) throw error;
    return `${error.message.split("\n")[0]} (run npm ci and npm run build first)`;
  }
}

async function run(suite: Suite, command: Command & { kind: "run" }): Promise<ExitCode> {
  const progress = new Progress(process.stderr, command.suite);
  const interrupt = new AbortController();
  process.once("SIGINT", () => interrupt.abort(new Error("interrupted")));
  try {
    const outcome = await runSuite(suite, { quick: command.quick, progress, signal: interrupt.signal });
    progress.clear();
    const machine = thisMachine();
    const colour = process.stdout.isTTY && !process.env["NO_COLOR"];
    process.stdout.write(renderOutcome(command.suite, machine, outcome, { colour }));
    const report = reportOf(command.suite, machine, outcome);
    if (command.json !== undefined) await writeFile(command.json, `${JSON.stringify(report, null, 2)}\n`);
    const missed = misses([...report.ratios, ...report.limits]);
    for (const line of missed) process.stderr.write(`${line}\n`);
    return missed.length > 0 ? 1 : 0;
  } finally {
    progress.clear();
    const seconds = Math.ceil(performance.now() / 1000);
    const late = command.quick && performance.now() > QUICK_BUDGET_MS ? ", over the 45 s of a quick run" : "";
    progress.say(`${seconds} s in all${late}`);
  }
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown): ExitCode => {
  process.stderr.write(`bench: ${error instanceof Error ? error.stack : String(error)}\n`);
  return 2;
});
