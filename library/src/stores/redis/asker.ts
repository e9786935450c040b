import type { Clock } from "../../clock.js";
import type { RedisCommands } from "./client.js";
import { refusalOf } from "./failure.js";

/** Runs scripts with a deadline: a client that is not connected would keep a webhook waiting for ever. */
export class Asker {
  readonly #commands: RedisCommands;
  readonly #clock: Clock;
  readonly #timeoutMs: number;

  constructor(commands: RedisCommands, clock: Clock, timeoutMs: number) {
    this.#commands = commands;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** Asks, and once more when the answer was lost: every script may be sent twice. Rejects with the client's error. */
  async ask(script: string, key: string, args: readonly string[]): Promise<unknown> {
    const done = new AbortController();
    const late = this.#clock.sleep(this.#timeoutMs, done.signal).then(() => {
      throw new Error(`no answer within ${this.#timeoutMs} ms`);
    });
    try {
      return await Promise.race([this.#twice(script, key, args), late]);
    } finally {
      done.abort();
    }
  }

  /** Asks without waiting for the answer; a client that is not connected does it when it is again. */
  tell(script: string, key: string, args: readonly string[]): void {
    void this.#once(script, key, args).catch(() => undefined);
  }

  async #twice(script: string, key: string, args: readonly string[]): Promise<unknown> {
    try {
      return await this.#once(script, key, args);
    } catch (error) {
      if (refusalOf(error) !== undefined) throw error;
      return this.#once(script, key, args);
    }
  }

  // A client that throws instead of rejecting must not pass by the handlers above.
  async #once(script: string, key: string, args: readonly string[]): Promise<unknown> {
    return this.#commands.eval(script, key, args);
  }
}
