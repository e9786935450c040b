import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";

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

/** Resolves when the process says `ready` on a stream of its own; throws with what it said when it ends before. */
export async function saidReady(child: ChildProcess, ready: string): Promise<void> {
  let said = "";
  await new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      // A server that runs for minutes must not fill the memory with its log.
      said = (said + chunk.toString()).slice(-8192);
      if (said.includes(ready)) resolve();
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${child.spawnfile} ended with ${code}: ${said}`)));
  });
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
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}
