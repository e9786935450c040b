import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { IN_FLIGHT } from "./signed-posts.js";

const PROGRAM = fileURLToPath(new URL("dispatcher-process.mjs", import.meta.url));
const FOR_MS = 8000;
// Far fewer than it delivers in that time on the slowest machine: fewer say that it did nothing.
const LEAST_ATTEMPTS = 1000;

interface Found {
  readonly acknowledged: number;
  readonly other: number;
  readonly residentMb: number;
}

/** The most resident memory that a process had which delivered from this outbox for some seconds, runtime included. */
export async function dispatcherMemory(url: string, schema: string): Promise<number> {
  const child = fork(PROGRAM, [url, schema, String(IN_FLIGHT), String(FOR_MS)], { execArgv: [] });
  const ended = once(child, "exit");
  const said = once(child, "message") as Promise<[Found]>;
  const died = ended.then((): never => {
    throw new Error("The dispatcher's process has ended without a word.");
  });
  died.catch(() => undefined);
  const [{ acknowledged, other, residentMb }] = await Promise.race([said, died]);
  await ended;
  if (acknowledged < LEAST_ATTEMPTS || other > 0)
    throw new Error(`The dispatcher delivered ${acknowledged} events, and ${other} attempts failed.`);
  return residentMb;
}
