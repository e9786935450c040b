import { describe, expect, it } from "vitest";
import { checkRetry, DEFAULT_RETRY, retryWaitMs } from "./retry-policy.js";
import type { RetryOptions } from "./retry-policy.js";

const HOUR_MS = 3_600_000;

function waits(options: RetryOptions, chance = 0.5): (number | undefined)[] {
  const policy = checkRetry(options);
  return Array.from({ length: 16 }, (_, n) => retryWaitMs(policy, n + 1, chance));
}

describe("a retry policy", () => {
  it("waits four times as long each time by default, at most ten hours, for 15 attempts in 2.75 days", () => {
    const all = waits({});
    expect(all.slice(0, 4)).toEqual([1000, 4000, 16_000, 64_000]);
    expect(all[13]).toBe(10 * HOUR_MS);
    expect(all.slice(14)).toEqual([undefined, undefined]);
    const days = all.reduce<number>((sum, ms) => sum + (ms ?? 0), 0) / (24 * HOUR_MS);
    expect(days).toBeCloseTo(2.75, 1);
  });

  it("spreads each wait by its jitter, and by nothing without", () => {
    expect(retryWaitMs(DEFAULT_RETRY, 1, 0)).toBe(800);
    expect(retryWaitMs(DEFAULT_RETRY, 1, 1)).toBe(1200);
    expect(waits({ jitter: 0 }, 0.9)[0]).toBe(1000);
  });

  it("may be a list of waits; an empty one allows a single attempt", () => {
    expect(waits({ waitsMs: [5, 0, 7], jitter: 0 }).slice(0, 4)).toEqual([5, 0, 7, undefined]);
    expect(waits({ waitsMs: [] })[0]).toBeUndefined();
  });

  it.each<RetryOptions>([
    { waitsMs: [Number.NaN] },
    { waitsMs: [-1] },
    { waitsMs: Array.from({ length: 101 }, () => 1) },
    { waitsMs: "1,2" as never },
    { firstMs: Number.NaN },
    { factor: 0.5 },
    { capMs: Infinity },
    { maxAttempts: 0 },
    { maxAttempts: 2.5 },
    { maxAttempts: 101 },
    { jitter: 1.5 },
  ])("that holds %j is refused where it is handed in", (options) => {
    expect(() => checkRetry(options)).toThrow(
      expect.objectContaining({ code: "retry_policy_invalid" }) as Error,
    );
  });
});
