import type { ChildProcess, SpawnOptions } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A port of loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("loopback gave no port");
  return address.port;
}

/**
 * Starts a program and resolves when it says `ready`; throws with what it said when it ends before. It writes to a
 * file, not to a pipe: a pipe that nobody empties, because a test blocks this process, fills up and stops the program.
 */
export async function startProgram(
  [program, ...args]: readonly [string, ...string[]],
  { ready, logFile, ...options }: SpawnOptions & { readonly ready: string; readonly logFile: string },
): Promise<ChildProcess> {
  const log = openSync(logFile, "w");
  const child = spawn(program, args, { ...options, stdio: ["ignore", log, log] });
  closeSync(log);
  let failure: Error | undefined;
  child.once("error", (error) => (failure = error));
  for (;;) {
    const said = readFileSync(logFile, "utf8");
    if (said.includes(ready)) return child;
    if (failure || hasEnded(child)) throw new Error(`${program} did not start: ${said}`, { cause: failure });
    await sleep(10);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

const ENDING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Cleans up when this process ends without having done so, also by a signal; returns how to call that off. */
export function atProcessEnd(cleanUp: () => void): () => void {
  const callOff = (): void => {
    process.off("exit", cleanUp);
    for (const signal of ENDING) process.off(signal, onSignal);
  };
  // A listener takes away the signal's own effect, which comes back when it is sent again.
  const onSignal = (signal: NodeJS.Signals): void => {
    callOff();
    cleanUp();
    process.kill(process.pid, signal);
  };
  process.once("exit", cleanUp);
  for (const signal of ENDING) process.once(signal, onSignal);
  return callOff;
}

/** Sends a signal and waits for the end; a process that has ended is left alone. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}
