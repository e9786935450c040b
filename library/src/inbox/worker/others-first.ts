import type { Clock } from "../../clock.js";

const WAIT_MS = 100;
const LASTS_MS = 30_000;
// With every event of a source that was removed a window would begin again, and new workers would be slow for the hour in which
// the old version counts. By the wall clock, so that the windows of all workers meet: where one was over before another began,
// there would always be one that is first.
const ONCE_IN_MS = 10 * LASTS_MS;

/**
 * Lets other workers claim first, for a time, while another version of the host has handlers that are missing here: whoever has no
 * handler would else take what has become due again and again, and give it back, and those behind it would wait as long as both run.
 */
export class OthersFirst {
  readonly #clock: Clock;
  #until = -Infinity;
  /** The last span of time in which a window has begun. */
  #span = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What another version handles was given back: a window begins, if none has in this span of time. */
  gaveBack(): void {
    const span = Math.floor(this.#clock.now() / ONCE_IN_MS);
    if (span === this.#span) return;
    this.#span = span;
    this.#until = this.#clock.monotonic() + LASTS_MS;
  }

  /** Waits before a claim, in a window. */
  async wait(): Promise<void> {
    if (this.#clock.monotonic() < this.#until) await this.#clock.sleep(WAIT_MS);
  }
}
