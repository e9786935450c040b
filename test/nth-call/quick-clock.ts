import type { Clock } from "../../library/src/clock.js";
import type { StopSignal } from "../../library/src/stop-signal.js";

interface Sleeper {
  readonly wakesAt: number;
  readonly wake: () => void;
}

// Enough for what one wakes to wake another: a group commit and a batch each wait for one.
const TURNS = 6;

/** What is returned in place of an answer that does not come. */
export const LATE: unique symbol = Symbol("late");

/** Time that passes only when nothing else happens, and then at once: a call that hangs costs nothing. */
export class QuickClock implements Clock {
  readonly #sleepers = new Set<Sleeper>();
  #passedMs = 0;
  readonly #beganAt: number;

  constructor(beganAt: number) {
    this.#beganAt = beganAt;
  }

  now(): number {
    return Math.floor(this.#beganAt + this.#passedMs);
  }

  monotonic(): number {
    return this.#passedMs;
  }

  sleep(ms: number, signal?: StopSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const wake = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const sleeper = { wakesAt: this.#passedMs + Math.max(0, ms), wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", wake);
    });
  }

  /** Lets time pass until it is settled; `LATE` when so much of it has passed first. */
  async within<T>(doing: Promise<T>, patienceMs: number): Promise<T | typeof LATE> {
    const open = new Set([doing]);
    const ended = doing.finally(() => open.clear());
    // It is returned when it is settled; one that comes too late concerns nobody.
    ended.catch(() => undefined);
    const endsAt = this.#passedMs + patienceMs;
    for (;;) {
      for (let turn = 0; turn < TURNS && open.size > 0; turn++)
        await new Promise((resolve) => setImmediate(resolve));
      if (open.size === 0) return ended;
      if (this.#passedMs >= endsAt) return LATE;
      this.#passTo(endsAt);
    }
  }

  /** Wakes the next sleeper, or goes to that time. */
  #passTo(endsAt: number): void {
    let next: Sleeper | undefined;
    for (const sleeper of this.#sleepers)
      if (next === undefined || sleeper.wakesAt < next.wakesAt) next = sleeper;
    this.#passedMs = Math.max(this.#passedMs, Math.min(next?.wakesAt ?? endsAt, endsAt));
    if (next !== undefined && next.wakesAt <= this.#passedMs) next.wake();
  }
}
