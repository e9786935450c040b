import type { StopSignal } from "./stop-signal.js";

/** Where time comes from. Handed in, so that tests and the simulator can turn it. */
export interface Clock {
  /** Wall time in milliseconds since 1970. May jump; never measure an interval with it. */
  now(): number;
  /** Milliseconds that only grow, from an arbitrary start. */
  monotonic(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. */
  sleep(ms: number, signal?: StopSignal): Promise<void>;
  /** Lets `work` happen when all that can go on now has gone on. @default a turn of the event loop */
  soon?(work: () => void): void;
}

// setTimeout fires at once for anything above this: a sleep of 30 days would spin.
export const LONGEST_TIMER_MS = 2_147_483_647;

/** The machine's own clock. */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms: number, signal?: StopSignal) =>
    new Promise<void>((resolve) => {
      if (signal?.aborted === true) return resolve();
      const wake = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.min(Math.max(0, ms), LONGEST_TIMER_MS));
      signal?.addEventListener("abort", wake);
    }),
});
