import type { Clock } from "../clock.js";
import { PosthornError } from "../posthorn-error.js";
import type { InboxErrorCode } from "./inbox-errors.js";

interface Watched {
  readonly endsAt: number;
  readonly giveUp: (error: Error) => void;
}

// One timer for all: one for each event would cost more than a duplicate does.
const LOOK_EVERY_MS = 1000;

/**
 * The events that this process is applying. It gives up on a store that never answers, as one does whose server is
 * gone without a word: the event would stay busy in this process for ever. What still runs in the store cannot be
 * joined by the next delivery, because the store lets in one at a time.
 */
export class InProgress {
  readonly #clock: Clock;
  readonly #limitMs: number;
  // In the order of their ends.
  readonly #watched = new Map<string, Watched>();
  #looking = false;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  has(key: string): boolean {
    return this.#watched.has(key);
  }

  /** Holds the key until the work ends; throws `store_unavailable` when that takes longer than the limit. */
  async watch<T>(key: string, work: Promise<T>): Promise<T> {
    try {
      return await new Promise<T>((resolve, giveUp) => {
        this.#watched.set(key, { endsAt: this.#clock.monotonic() + this.#limitMs, giveUp });
        work.then(resolve, giveUp);
        if (!this.#looking) void this.#look();
      });
    } finally {
      this.#watched.delete(key);
    }
  }

  async #look(): Promise<void> {
    this.#looking = true;
    while (this.#watched.size > 0) {
      await this.#clock.sleep(LOOK_EVERY_MS);
      const now = this.#clock.monotonic();
      for (const { endsAt, giveUp } of this.#watched.values()) {
        if (endsAt > now) break;
        giveUp(silent(this.#limitMs));
      }
    }
    this.#looking = false;
  }
}

function silent(limitMs: number): PosthornError<InboxErrorCode> {
  return new PosthornError(
    "store_unavailable",
    `The store did not answer within ${limitMs} ms. The sender is told to come again, and finds the truth.`,
  );
}
