/** How a pass goes on: how much the next step takes, and how long it waits before. */
export interface Pace {
  readonly limit: number;
  readonly waitMs: number;
}

/** What a step came to. */
export interface PacedStep {
  readonly limit: number;
  readonly removed: number;
  readonly tookMs: number;
}

export const FIRST_LIMIT = 100;
const LEAST_LIMIT = 10;
const MOST_LIMIT = 500;

// What a step holds, others may wait for: longer ones are made smaller, and shorter ones larger.
const LONG_MS = 100;
const SHORT_MS = 25;

/**
 * After a step: removal rests at least as long as it has worked, so that others have half of what it uses, and removes no
 * more rows in a second than it may.
 */
export function nextPace({ limit, removed, tookMs }: PacedStep, rowsPerSecond: number): Pace {
  const wanted = tookMs > LONG_MS ? limit / 2 : tookMs < SHORT_MS ? limit * 2 : limit;
  const dueMs = (removed / rowsPerSecond) * 1000;
  return {
    limit: Math.min(MOST_LIMIT, Math.max(LEAST_LIMIT, Math.floor(wanted))),
    waitMs: Math.max(tookMs, dueMs - tookMs),
  };
}
