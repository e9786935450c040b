import { availableParallelism } from "node:os";
import { expect, it } from "vitest";
import { CountedTime } from "./counted-time.js";
import type { Counted } from "./counted-time.js";

const FROM_MS = 500;

/** A request every 100 ms; in each second its latency is the second's number in ms, while the host takes such a share. */
function countedOf(
  shares: readonly number[],
  forMs: number,
): { readonly counted: Counted; readonly overAt: number } {
  let stolen = 7;
  const time = new CountedTime({
    fromMs: FROM_MS,
    forMs,
    atMostMs: shares.length * 1000,
    stolenMs: () => stolen,
  });
  let nowMs = 0;
  for (; !time.isOver(nowMs); nowMs += 100) {
    const second = Math.floor((nowMs - FROM_MS) / 1000);
    time.record(nowMs, nowMs + second);
    stolen += (shares[second] ?? 0) * 100 * availableParallelism();
  }
  return { counted: time.counted(), overAt: nowMs };
}

it("counts all of it where the host takes nothing, and nothing of what was before", () => {
  const { counted, overAt } = countedOf([0, 0], 2000);
  expect(overAt).toBe(FROM_MS + 2000);
  expect(counted).toMatchObject({ requests: 20, elapsedUs: 2_000_000, seconds: { seen: 2, quiet: 2 } });
  expect(counted.latencies).toEqual([
    [0, 10],
    [1000, 10],
  ]);
});

it("goes on for quiet seconds, and leaves out the others with their latencies", () => {
  const { counted, overAt } = countedOf([0, 0.2, 0.01, 0, 0], 2000);
  expect(overAt).toBe(FROM_MS + 4000);
  expect(counted).toMatchObject({ requests: 20, elapsedUs: 2_000_000, seconds: { seen: 4, quiet: 2 } });
  expect(counted.latencies).toEqual([
    [0, 10],
    [3000, 10],
  ]);
});

it("ends when it has gone on for long enough, and counts the quietest seconds", () => {
  const { counted, overAt } = countedOf([0.3, 0.1, 0.2], 2000);
  expect(overAt).toBe(FROM_MS + 3000);
  expect(counted).toMatchObject({ requests: 20, seconds: { seen: 3, quiet: 0 } });
  expect(counted.latencies.map(([us]) => us)).toEqual([1000, 2000]);
});
