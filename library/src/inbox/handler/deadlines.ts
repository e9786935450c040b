import type { Clock } from "../../clock.js";
import { PosthornError } from "../../posthorn-error.js";
import type { StoreErrorCode } from "../../store-errors.js";

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

/**
 * The events that this process is applying. It gives up on a store that never answers, as one does whose server is
 * gone without a word: the event would stay busy in this process for ever. What still runs in the store cannot be
 * joined by the next delivery, because the store lets in one at a time.
 */
export class InProgress {
  readonly #limitMs: number;
  readonly #timeouts: Timeouts;
  readonly #keys = new Set<string>();

  constructor(clock: Clock, limitMs: number) {
    this.#limitMs = limitMs;
    this.#timeouts = new Timeouts(clock, limitMs);
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** Holds the key until the work ends; throws `store_unavailable` when that takes longer than the limit. */
  async watch<T>(key: string, work: Promise<T>): Promise<T> {
    this.#keys.add(key);
    let giveUp: (error: Error) => void = nothing;
    const givenUp = new Promise<never>((_resolve, reject) => (giveUp = reject));
    const timeout = this.#timeouts.start(() => giveUp(silent(this.#limitMs)));
    try {
      return await Promise.race([work, givenUp]);
    } finally {
      this.#timeouts.stop(timeout);
      this.#keys.delete(key);
    }
  }
}

function nothing(): void {
  // Stands in until the promise has handed out its own.
}

function silent(limitMs: number): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_unavailable",
    `The store did not answer within ${limitMs} ms. The sender is told to come again, and finds the truth.`,
  );
}
