import type { Clock } from "../clock.js";
import { Bell } from "../work/wake.js";
import type { Hint } from "../work/wake.js";
import type { LaneStore } from "./lane-store.js";

export interface SequencingParts {
  readonly store: Pick<LaneStore, "sequence">;
  readonly clock: Clock;
  readonly pollMs: number;
  /** Called when something may be due: events were sequenced, or a publish, a redrive or a skip was committed. */
  readonly onWork: () => void;
  readonly failed: (operation: string, error: unknown) => void;
}

// After a publish inside a host's transaction the commit follows soon, and we cannot see when.
const SOON_MS = 5;
const SOON_FOR_MS = 1000;

/** Gives committed events their places, as soon as a hint says so and at the latest when it is time to poll. */
export class Sequencing {
  readonly #parts: SequencingParts;
  readonly #bell: Bell;
  #stopping = false;
  // Somebody said "committed" since the last look.
  #committed = false;
  // Polls are frequent for a while after a hint that a transaction is under way, and then ever rarer.
  #waitMs: number;
  #soonUntil = -Infinity;

  constructor(parts: SequencingParts) {
    this.#parts = parts;
    this.#bell = new Bell(parts.clock);
    this.#waitMs = parts.pollMs;
  }

  hint(hint: Hint): void {
    if (hint === "committed") this.#committed = true;
    if (hint === "written") {
      this.#waitMs = Math.min(SOON_MS, this.#parts.pollMs);
      this.#soonUntil = this.#parts.clock.monotonic() + SOON_FOR_MS;
    }
    this.#bell.ring();
  }

  /** Sequences at once, without claiming that anything is due: a worker that asks so again and again must not wake itself. */
  look(): void {
    this.#bell.ring();
  }

  stop(): void {
    this.#stopping = true;
    this.#bell.ring();
  }

  async run(): Promise<void> {
    while (!this.#stopping) {
      const more = await this.once();
      if (!more) await this.#bell.wait(this.#nextWaitMs());
    }
  }

  /** True when there is more to do at once. */
  async once(): Promise<boolean> {
    try {
      const committed = this.#committed;
      this.#committed = false;
      const { events, more, cancelled = 0 } = await this.#parts.store.sequence();
      // Also without an event: SQLite and memory sequence within the publish, and a redrive or a skip stages nothing.
      if (events > 0 || committed) this.#parts.onWork();
      // Where another process is at it, asking again at once would only be in its way.
      return more && (events > 0 || cancelled > 0);
    } catch (error) {
      this.#parts.failed("sequence", error);
      return false;
    }
  }

  #nextWaitMs(): number {
    const { clock, pollMs } = this.#parts;
    const waitMs = this.#waitMs;
    if (clock.monotonic() >= this.#soonUntil) this.#waitMs = Math.min(waitMs * 2, pollMs);
    return waitMs;
  }
}
