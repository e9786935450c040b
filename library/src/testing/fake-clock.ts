import type { Clock } from "../clock.js";

/** A clock that stands still until it is told otherwise. */
export interface FakeClock extends Clock {
  /** Lets time pass: both clocks move, and whoever sleeps wakes in the order of waking times. */
  advance(ms: number): Promise<void>;
  /** Lets time pass, step by step, until the promise is settled. @param stepMs 10 unless told */
  until<T>(doing: Promise<T>, stepMs?: number): Promise<T>;
  /** Turns the wall clock, as an administrator or a leap would; no time passes and nobody wakes. */
  set(at: number | Date): void;
  /** How many are asleep. */
  readonly sleeping: number;
}

interface Sleeper {
  readonly wakesAt: number;
  readonly wake: () => void;
}

// Taken before a test runner can replace it: a faked timer would never let the woken run.
const setRealTimeout = globalThis.setTimeout;

class StandingClock implements FakeClock {
  #wallMs: number;
  #monotonicMs = 0;
  readonly #sleepers = new Set<Sleeper>();

  constructor(at: number) {
    this.#wallMs = at;
  }

  get sleeping(): number {
    return this.#sleepers.size;
  }

  now(): number {
    return this.#wallMs;
  }

  monotonic(): number {
    return this.#monotonicMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const wake = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const sleeper = { wakesAt: this.#monotonicMs + Math.max(0, ms), wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", wake);
    });
  }

  async advance(ms: number): Promise<void> {
    if (!(Number.isFinite(ms) && ms >= 0)) {
      throw new RangeError(
        `advance(${ms}): time passes by 0 ms or more; to turn the wall clock back, use set.`,
      );
    }
    const end = this.#monotonicMs + ms;
    for (;;) {
      const next = this.#nextBefore(end);
      this.#moveTo(next?.wakesAt ?? end);
      if (next === undefined) return;
      next.wake();
      // Whoever woke may sleep again within the time that is left; without this turn it would oversleep.
      await new Promise<void>((resolve) => setRealTimeout(resolve, 0));
    }
  }

  async until<T>(doing: Promise<T>, stepMs = 10): Promise<T> {
    const open = new Set([doing]);
    const finished = doing.finally(() => open.clear());
    // It is returned at the end; until then a rejection must not count as one that nobody handles.
    finished.catch(() => undefined);
    while (open.size > 0) {
      await this.advance(stepMs);
      // What waits for no clock, but for a turn of the event loop, gets it.
      await new Promise<void>((resolve) => setRealTimeout(resolve, 0));
    }
    return finished;
  }

  set(at: number | Date): void {
    this.#wallMs = Number(at);
  }

  #moveTo(monotonicMs: number): void {
    this.#wallMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }

  #nextBefore(end: number): Sleeper | undefined {
    let next: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      // Of equal waking times the one that fell asleep first comes first, as with real timers.
      if (sleeper.wakesAt <= end && (next === undefined || sleeper.wakesAt < next.wakesAt)) next = sleeper;
    }
    return next;
  }
}

/**
 * Makes a clock that tests turn by hand.
 *
 * @example
 * const clock = createFakeClock({ at: Date.UTC(2030, 0, 1) });
 * await clock.advance(14 * 24 * 3600 * 1000);
 */
export function createFakeClock(options: { readonly at?: number | Date } = {}): FakeClock {
  return new StandingClock(Number(options.at ?? Date.UTC(2030, 0, 1)));
}
