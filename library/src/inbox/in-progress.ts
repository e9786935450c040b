import type { Clock } from "../clock.js";
import { PosthornError } from "../posthorn-error.js";
import type { InboxErrorCode } from "./inbox-errors.js";
import { Timeouts } from "./timeouts.js";

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

function silent(limitMs: number): PosthornError<InboxErrorCode> {
  return new PosthornError(
    "store_unavailable",
    `The store did not answer within ${limitMs} ms. The sender is told to come again, and finds the truth.`,
  );
}
