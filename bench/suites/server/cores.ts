import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import type { SuiteContext } from "../../suite.js";

/** Where the measured server runs, alone. */
const SERVER_CORE = "0";

/** Why the server cannot have a core to itself here, or nothing. */
export function noCores(): string | undefined {
  if (spawnSync("taskset", ["--version"]).status !== 0)
    return "taskset (Debian: util-linux) is missing; server and generator would take each other's time";
  if (availableParallelism() < 2)
    return "there is one core; server and generator would take each other's time";
  return undefined;
}

/** The command line that runs a program on the server's core. */
export function onServerCore(program: string, args: readonly string[]): [string, ...string[]] {
  return ["taskset", "--cpu-list", SERVER_CORE, program, ...args];
}

/** Leaves the server's core: what this process starts from now on, databases and generator, stays off it too. */
export function leaveServerCore(context: SuiteContext): void {
  const last = availableParallelism() - 1;
  pinSelf(`1-${last}`);
  context.onClose(() => pinSelf(`0-${last}`));
}

function pinSelf(cores: string): void {
  const pinned = spawnSync("taskset", ["--all-tasks", "--cpu-list", "--pid", cores, String(process.pid)]);
  if (pinned.status !== 0) throw new Error(`taskset failed: ${String(pinned.stderr)}`);
}
