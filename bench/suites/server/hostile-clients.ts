import { fork, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { endProcess } from "../../../test/services/spawned.js";

const PROGRAM = fileURLToPath(new URL("hostile-process.ts", import.meta.url));

export const SLOW_SOCKETS = 2000;
// The others were closed by the server a moment ago, and come again.
const LEAST_OPEN = 0.9;
/** What each attack has to be answered with, or it is none. */
const EXPECTED = [
  "too large, told: 413",
  "too large, in chunks: 413",
  "no HTTP: 400",
  "headers too large: 431",
  "broken chunk: 400",
  "not signed: 401",
];

interface Found {
  /** How many slow sockets were open, on the average. */
  readonly slow: number;
  /** How long the others attacked. */
  readonly seconds: number;
  readonly answered: Readonly<Record<string, number>>;
}

/** Clients in another process that never end their requests, or send none that is one. */
export class HostileClients {
  readonly #openOverMs: number;
  readonly #say: (text: string) => void;
  #child: ChildProcess | undefined;

  /** Over so long, the slow sockets are opened; by the time that the server leaves to one, they end as they began. */
  constructor(openOverMs: number, say: (text: string) => void) {
    this.#openOverMs = openOverMs;
    this.#say = say;
  }

  async start(url: string, path: string): Promise<void> {
    const args = [url, path, String(SLOW_SOCKETS), String(this.#openOverMs)];
    const child = fork(PROGRAM, args, { execArgv: ["--import", "tsx"] });
    this.#child = child;
    yieldToOthers(child);
    await answerOf(child);
  }

  /** Throws unless they were there to the end, and were told no in the way that was expected. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const answer = answerOf(child);
    child.send("count");
    const { slow, seconds, answered } = (await answer) as Found;
    await endProcess(child, "SIGKILL");
    const attacks = Object.values(answered).reduce((sum, count) => sum + count, 0);
    this.#say(`${Math.round(slow)} slow sockets, ${Math.round(attacks / seconds)} other attacks a second`);
    if (!(slow >= SLOW_SOCKETS * LEAST_OPEN))
      throw new Error(`${Math.round(slow)} slow sockets were open on the average; expected ${SLOW_SOCKETS}.`);
    const missing = EXPECTED.filter((each) => answered[each] === undefined);
    if (missing.length > 0)
      throw new Error(`No attack was answered with ${missing.join(", ")}: ${JSON.stringify(answered)}`);
  }
}

// They share a core with the healthy clients: what these had to wait for them would be taken for the server's delay. A low
// priority is not enough, because whoever runs may go on for a few milliseconds all the same.
function yieldToOthers({ pid }: ChildProcess): void {
  const line = ["--all-tasks", "--idle", "--pid", "0", String(pid)];
  const { status, stderr } = spawnSync("chrt", line);
  if (status !== 0) throw new Error(`chrt (Debian: util-linux) failed: ${String(stderr)}`);
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  const dies = once(child, "exit", { signal: ended.signal }).then((): never => {
    throw new Error("The process of the hostile clients has ended.");
  });
  try {
    const [answer] = (await Promise.race([once(child, "message"), dies])) as [unknown];
    return answer;
  } finally {
    dies.catch(() => undefined);
    ended.abort();
  }
}
