import type { Clock } from "../clock.js";

/** `committed`: there is work. `written`: there will be, when a transaction of the host commits, which nobody here sees. */
export type Hint = "committed" | "written";

/**
 * Tells listeners that there may be work, so that they need not ask again and again. It is a hint only: a hint may be
 * lost, and polling finds the same work later.
 */
export class Wake {
  readonly #listeners = new Set<(hint: Hint) => void>();

  ring(hint: Hint): void {
    for (const listener of this.#listeners) listener(hint);
  }

  /** Returns the function that removes the listener. */
  listen(listener: (hint: Hint) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Lets one loop sleep until somebody rings, or its time is up. A ring while the loop is awake is kept for its next sleep. */
export class Bell {
  readonly #clock: Clock;
  #rung = false;
  #asleep: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ring(): void {
    this.#rung = true;
    // With a reason, `abort` makes no exception of its own, whose stack trace nobody reads.
    this.#asleep?.abort("rung");
  }

  /** True when somebody rang. */
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
