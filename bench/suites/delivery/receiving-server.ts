import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { SuiteContext } from "../../suite.js";

const PROGRAM = fileURLToPath(new URL("receiving-process.ts", import.meta.url));

/** A plain server in another process that answers 200 to everything. */
export interface ReceivingServer {
  readonly url: string;
  /** How many requests it has answered. */
  received(): Promise<number>;
}

export async function startReceivingServer(context: SuiteContext): Promise<ReceivingServer> {
  const child = fork(PROGRAM, { execArgv: ["--import", "tsx"] });
  context.onClose(() => void child.kill());
  const answer = async <T>(): Promise<T> => {
    const ended = new AbortController();
    const dies = once(child, "exit", { signal: ended.signal }).then(() => {
      throw new Error("The receiving server has ended.");
    });
    try {
      const [first] = (await Promise.race([once(child, "message"), dies])) as [T];
      return first;
    } finally {
      dies.catch(() => undefined);
      ended.abort();
    }
  };
  const { port } = await answer<{ port: number }>();
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    async received() {
      const answered = answer<{ received: number }>();
      child.send("count");
      return (await answered).received;
    },
  };
}

/** Counts what the server receives in a turn: what was not sent is sent fastest. */
export class Arrivals {
  readonly #server: ReceivingServer;
  #before = 0;

  constructor(server: ReceivingServer) {
    this.#server = server;
  }

  async begin(): Promise<void> {
    this.#before = await this.#server.received();
  }

  async end(expected: number): Promise<void> {
    const found = (await this.#server.received()) - this.#before;
    if (found !== expected) throw new Error(`The server received ${found} events; expected ${expected}.`);
  }
}
