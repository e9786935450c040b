import { describe, expect, it } from "vitest";
import { LogHistogram } from "./log-histogram.js";

function of(...times: readonly number[]): LogHistogram {
  const histogram = new LogHistogram();
  for (const ms of times) histogram.add(ms);
  return histogram;
}

describe("a histogram in logarithmic buckets", () => {
  it("tells every quantile within a tenth, from microseconds to days", () => {
    for (const scale of [0.05, 1, 40, 1500, 3_600_000]) {
      const times = Array.from({ length: 1000 }, (_, n) => scale * (1 + n / 100));
      const histogram = of(...times);
      for (const share of [0.5, 0.9, 0.99]) {
        const truth = times[Math.ceil(share * 1000) - 1] ?? 0;
        const told = histogram.quantile(share) ?? 0;
        expect(Math.abs(told - truth) / truth).toBeLessThan(0.1);
      }
    }
  });

  it("is the same whether two are merged or all was counted in one", () => {
    const [one, other] = [of(1, 5, 200), of(5, 9000)];
    one.merge(other);
    expect(one.toText().split(" ").toSorted()).toEqual(of(1, 5, 200, 5, 9000).toText().split(" ").toSorted());
    expect(one.count).toBe(5);
  });

  it("comes back from its text, and junk in a text counts nothing", () => {
    const histogram = of(0.2, 3, 3, 70_000);
    const back = LogHistogram.fromText(histogram.toText());
    expect([back.count, back.quantile(0.5)]).toEqual([4, histogram.quantile(0.5)]);
    expect(LogHistogram.fromText("x 1: :2 3:-4 99999:1 __proto__:1").count).toBe(0);
    expect(LogHistogram.fromText("").quantile(0.5)).toBeUndefined();
  });

  it("counts a time below zero as the shortest, and one without end as the longest", () => {
    const histogram = of(-5, Number.NaN, Infinity);
    expect(histogram.count).toBe(3);
    expect(histogram.quantile(0.5)).toBeLessThan(0.02);
    expect(histogram.quantile(1)).toBeGreaterThan(300 * 86_400_000);
  });
});
