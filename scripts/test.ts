// npm test | npm run test:all [-- --lane <name>] [-- <test files>]: builds, runs the lanes one after the other, and ends
// with one total.
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tally } from "../test/tally.js";
import { addTallies, emptyTally, endWith, failureOf, tallyFileVariable } from "../test/tally.js";
import type { Lane } from "./lanes.js";
import { chooseLanes, lanes } from "./lanes.js";
import { root, runCommand } from "./run-command.js";

function main(): void {
  const choice = chooseLanes(lanes, process.argv.slice(2));
  const total =
    choice.kind === "chosen" ? runLanes(choice.lanes, choice.rest) : failureOf("the lane", choice.message);
  endWith(total);
}

function runLanes(chosen: readonly Lane[], args: readonly string[]): Tally {
  if (!runCommand(["npm", "run", "--silent", "build"]))
    return failureOf("the build", "It failed, so nothing was tested.");
  const scratch = mkdtempSync(join(tmpdir(), "posthorn-test-"));
  try {
    return chosen.map((lane) => runLane(lane, args, scratch)).reduce(addTallies, emptyTally);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function runLane(lane: Lane, args: readonly string[], scratch: string): Tally {
  process.stdout.write(`\n── ${lane.name} ──\n`);
  if (lane.install !== undefined && isStale(lane.install)) {
    const installed = runCommand(["npm", "ci", "--prefix", lane.install, "--no-audit", "--no-fund"]);
    if (!installed) return failureOf(lane.name, `npm ci of ${lane.install} failed.`);
  }
  const file = join(scratch, `${lane.name}.json`);
  const startedAt = performance.now();
  const succeeded = runCommand([...lane.command, ...args], { [tallyFileVariable]: file });
  process.stdout.write(`${lane.name} took ${Math.round((performance.now() - startedAt) / 1000)} s\n`);
  const tally = readTally(file);
  // A lane that died has no report, or one from before it died; neither may pass for a success.
  if (!tally) return failureOf(lane.name, "The lane broke off.");
  if (succeeded || tally.failures.length > 0) return tally;
  return addTallies(tally, failureOf(lane.name, "The lane ended with an error after its tests."));
}

function readTally(file: string): Tally | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Tally;
  } catch {
    return undefined;
  }
}

/** True when the folder's packages are missing or older than its lock. npm writes its own lock last. */
function isStale(folder: string): boolean {
  const changedAt = (path: string): number =>
    statSync(join(root, folder, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return changedAt("node_modules/.package-lock.json") <= changedAt("package-lock.json");
}

main();
