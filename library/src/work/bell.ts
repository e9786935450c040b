import type { Clock } from "../clock.js";

/** Lets one loop sleep until it is rung, or its time is up. A ring that comes while nobody sleeps is kept. */
export class Bell {
  readonly #clock: Clock;
  #rung = false;
  #asleep: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung = true;
    // The reason spares the stack trace of an exception that nobody reads.
    this.#asleep?.abort("rung");
  }

  /** True when it was rung. */
  async wait(ms: number): Promise<boolean> {
    if (!this.#rung && ms > 0) {
      this.#asleep = new AbortController();
      await this.#clock.sleep(ms, this.#asleep.signal);
      this.#asleep = undefined;
    }
    const rung = this.#rung;
    this.#rung = false;
    return rung;
  }
}
