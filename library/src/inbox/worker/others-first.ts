import type { Clock } from "../../clock.js";

const WAIT_MS = 100;
const LASTS_MS = 30_000;
// With every event of a source that was removed a window would begin again, and new workers would be slow for the hour in which
// the old version counts. By the wall clock, so that the windows of all workers meet: where one was over before another began,
// there would always be one that is first.
const ONCE_IN_MS = 10 * LASTS_MS;
// What was given back is due again within this time.
const DUE_AGAIN_MS = 10_000;

/**
 * Lets other workers claim first while another version of the host has handlers that are missing here: whoever has no
 * handler would else take what has become due again and again, and give it back, and those behind it would wait as long as both run.
 * A worker that is idle does so until nothing is given back any more: nothing else waits for it. One that has work does so for a
 * time.
 */
export class OthersFirst {
  readonly #clock: Clock;
  #until = -Infinity;
  /** The last span of time in which a window has begun. */
  #span = -Infinity;
  #dueAgainUntil = -Infinity;
  #isIdle = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What another version handles was given back: a window begins, if none has in this span of time. */
  gaveBack(): void {
    this.#dueAgainUntil = this.#clock.monotonic() + DUE_AGAIN_MS;
    const span = Math.floor(this.#clock.now() / ONCE_IN_MS);
    if (span === this.#span) return;
    this.#span = span;
    this.#until = this.#clock.monotonic() + LASTS_MS;
  }

  /** How much a claim has found. After one that finds nothing the worker sleeps until something is due, as the others do. */
  claimed(count: number): void {
    this.#isIdle = count === 0;
  }

  /** Waits before a claim, where others are to be first. */
  async wait(): Promise<void> {
    if (this.#isTheirTurn) await this.#clock.sleep(WAIT_MS);
  }

  get #isTheirTurn(): boolean {
    const now = this.#clock.monotonic();
    return now < this.#until || (this.#isIdle && now < this.#dueAgainUntil);
  }
}
