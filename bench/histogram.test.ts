import { assert, double, property } from "fast-check";
import { expect, test } from "vitest";
import { Histogram } from "./histogram.js";

function histogramOf(values: readonly number[]): Histogram {
  const histogram = new Histogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

test("an empty histogram has no quantile", () => {
  expect(new Histogram().quantile(0.5)).toBeNaN();
});

test("quantiles are of nearest rank, within 1 %", () => {
  const histogram = histogramOf(Array.from({ length: 1000 }, (_, index) => index + 1));
  expect(histogram.quantile(0.5) / 500).toBeCloseTo(1, 2);
  expect(histogram.quantile(0.99) / 990).toBeCloseTo(1, 2);
  expect(histogram.quantile(1) / 1000).toBeCloseTo(1, 2);
});

test("any latency from a nanosecond to an hour is kept within 1 %", () => {
  assert(
    property(double({ min: 1e-6, max: 3_600_000, noNaN: true }), (latencyMs) => {
      expect(Math.abs(histogramOf([latencyMs]).quantile(0.5) / latencyMs - 1)).toBeLessThan(0.01);
    }),
  );
});

test("latencies at and around every power of two are kept within 1 %", () => {
  for (let power = 10; power < 52; power += 1) {
    for (const picoseconds of [2 ** power - 1, 2 ** power, 2 ** power + 1]) {
      const latencyMs = picoseconds / 1e9;
      expect(Math.abs(histogramOf([latencyMs]).quantile(1) / latencyMs - 1)).toBeLessThan(0.01);
    }
  }
});

test("a latency beyond the scale, or below nothing, is counted at its end", () => {
  const histogram = histogramOf([1e12, -1]);
  expect(histogram.total).toBe(2);
  expect(histogram.quantile(0.5)).toBe(0);
  expect(histogram.quantile(1)).toBeGreaterThan(4_000_000);
});

test("one slow call in a hundred shows in p99.5 and not in p50", () => {
  const histogram = histogramOf([...Array.from({ length: 99 }, () => 1), 500]);
  expect(histogram.quantile(0.5)).toBeCloseTo(1, 1);
  expect(histogram.quantile(0.995) / 500).toBeCloseTo(1, 2);
});

test("adding the rounds gives the quantiles of all their records", () => {
  const sum = histogramOf([1, 1, 1]);
  sum.add(histogramOf([100]));
  expect(sum.total).toBe(4);
  expect(sum.quantile(0.75)).toBeCloseTo(1, 1);
  expect(sum.quantile(1) / 100).toBeCloseTo(1, 2);
});
