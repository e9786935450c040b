import type { Clock } from "posthorn";
import type { Logger } from "./observe/log.js";

interface Step {
  readonly name: string;
  stop(): Promise<void> | void;
}

/** Stops what was started, in reverse order; also when a later start fails. */
export class StopList {
  readonly #steps: Step[] = [];
  readonly #log: Logger;
  readonly #clock: Clock;
  #stopped: Promise<boolean> | undefined;

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  add(name: string, stop: () => Promise<void> | void): void {
    this.#steps.push({ name, stop });
  }

  /** Stops everything, once; false when that took too long. */
  stop(deadlineMs: number): Promise<boolean> {
    this.#stopped ??= this.#within(deadlineMs);
    return this.#stopped;
  }

  async #within(deadlineMs: number): Promise<boolean> {
    const done = new AbortController();
    const inTime = this.#all().then(() => true);
    const late = this.#clock.sleep(deadlineMs, done.signal).then(() => false);
    const ended = await Promise.race([inTime, late]);
    done.abort();
    if (!ended)
      this.#log.error(
        { step: this.#steps.at(-1)?.name, deadlineMs },
        "the stop took too long, and was cut off",
      );
    return ended;
  }

  async #all(): Promise<void> {
    for (let step = this.#steps.at(-1); step !== undefined; step = this.#steps.at(-1)) {
      this.#log.debug({ step: step.name }, "stopping");
      try {
        await step.stop();
      } catch (error) {
        // The others still have to be stopped: a store that is not closed loses what it could have flushed.
        this.#log.error({ err: error, step: step.name }, "could not be stopped cleanly");
      }
      this.#steps.pop();
    }
  }
}
