import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endProcess, startProgram } from "../../../test/services/spawned.js";
import type { SuiteContext } from "../../suite.js";
import { onServerCore } from "./cores.js";
import { cpuMsOf } from "./cpu-time.js";

/** A server in a process of its own, alone on its core. */
export interface MeasuredProcess {
  readonly url: string;
  readonly pid: number;
  /** The time that it has had its core for. */
  cpuMs(): number;
  stop(): Promise<void>;
}

export interface Program {
  /** The file, and its arguments. */
  readonly line: readonly [string, ...string[]];
  /** The last that it prints before it serves; what it prints holds `ready at <url>`. */
  readonly ready: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts a program of Node on the server's core; it is stopped with the suite. */
export async function startMeasured(
  context: Pick<SuiteContext, "onClose">,
  { line, ready, env }: Program,
): Promise<MeasuredProcess> {
  const home = mkdtempSync(join(tmpdir(), "posthorn-bench-"));
  context.onClose(() => rmSync(home, { recursive: true, force: true }));
  const logFile = join(home, "log");
  const child = await startProgram(onServerCore(process.execPath, line), {
    cwd: home,
    env: { ...process.env, NODE_ENV: "production", ...env },
    ready,
    logFile,
  });
  const stop = (): Promise<void> => endProcess(child, "SIGTERM");
  context.onClose(stop);
  const url = /ready at (\S+)/.exec(readFileSync(logFile, "utf8"))?.[1] ?? "";
  return { url, pid: pidOf(child), cpuMs: () => cpuMsOf(pidOf(child)), stop };
}

function pidOf({ pid, exitCode, signalCode }: ChildProcess): number {
  if (pid === undefined || exitCode !== null || signalCode !== null) throw new Error("The server has ended.");
  return pid;
}
