import type { Clock } from "../clock.js";

/** One that is waited for, and what happens when it takes too long. */
export interface Timeout {
  readonly endsAt: number;
  readonly onEnd: () => void;
}

/**
 * The same limit for many at once, watched by one timer: a sleep and its signals for each event cost as much as
 * verifying it.
 */
export class Timeouts {
  readonly #clock: Clock;
  readonly #limitMs: number;
  // In the order of their ends, because the limit is the same for all.
  readonly #running = new Set<Timeout>();
  #idle: AbortController | undefined;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  start(onEnd: () => void): Timeout {
    const timeout = { endsAt: this.#clock.monotonic() + this.#limitMs, onEnd };
    this.#running.add(timeout);
    if (this.#idle === undefined) void this.#watch();
    return timeout;
  }

  /** False when it had ended before. */
  stop(timeout: Timeout): boolean {
    const inTime = this.#running.delete(timeout);
    // A timer that is left behind would keep the process from ending. The reason spares a stack trace for each.
    if (this.#running.size === 0) this.#idle?.abort("idle");
    return inTime;
  }

  async #watch(): Promise<void> {
    const idle = new AbortController();
    this.#idle = idle;
    for (const timeout of this.#running) {
      const waitMs = timeout.endsAt - this.#clock.monotonic();
      if (waitMs > 0) await this.#clock.sleep(waitMs, idle.signal);
      if (idle.signal.aborted) break;
      if (this.#running.delete(timeout)) timeout.onEnd();
    }
    this.#idle = undefined;
    if (this.#running.size > 0) void this.#watch();
  }
}
