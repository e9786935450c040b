import { describe, expect, it } from "vitest";
import type { SeriesRow } from "../store/series.js";
import { LogHistogram } from "./log-histogram.js";
import { defaultStep, frameFault, frameOf, seriesOf } from "./series-view.js";

const NINE = Date.UTC(2026, 10, 18, 9);

function row(
  minute: number,
  kind: SeriesRow["kind"],
  name: string,
  counts: Record<string, number>,
): SeriesRow {
  const duration = new LogHistogram();
  for (let n = 0; n < (counts["attempts"] ?? 0); n++) duration.add(10 * (n + 1));
  return {
    step: 60,
    kind,
    at: new Date(NINE + minute * 60_000),
    name,
    counts,
    duration: duration.toText(),
    lag: "",
  };
}

describe("a series", () => {
  it("adds the rows of all nodes point by point, and has a zero where nothing was counted", () => {
    const frame = frameOf(NINE, NINE + 5 * 60_000, 60);
    const series = seriesOf(frame, [
      row(0, "source", "stripe", { stored: 3, duplicate: 1 }),
      row(0, "source", "stripe", { stored: 2 }),
      row(3, "source", "stripe", { rejected: 4 }),
      row(1, "endpoint", "ep_1", { attempts: 2, delivered: 1, failed: 1 }),
      row(1, "endpoint", "ep_1", { attempts: 1, delivered: 1 }),
      row(0, "total", "", { stored: 5, duplicate: 1 }),
    ]);
    expect(series.times).toHaveLength(5);
    expect(series.sources).toMatchObject([
      { name: "stripe", stored: [5, 0, 0, 0, 0], in: [6, 0, 0, 4, 0], rejected: [0, 0, 0, 4, 0] },
    ]);
    expect(series.endpoints[0]).toMatchObject({
      id: "ep_1",
      delivered: [0, 2, 0, 0, 0],
      failed: [0, 1, 0, 0, 0],
    });
    expect(series.endpoints[0]?.duration.count).toEqual([0, 3, 0, 0, 0]);
    expect(series.endpoints[0]?.duration.p50[0]).toBeNull();
    const p99 = series.endpoints[0]?.duration.p99[1] ?? 0;
    expect(Math.abs(p99 - 20)).toBeLessThan(2);
    expect(series.total.in).toEqual([6, 0, 0, 0, 0]);
  });

  it("begins at a whole step, and gathers minutes into larger steps", () => {
    const frame = frameOf(NINE + 70_000, NINE + 10 * 60_000, 300);
    const series = seriesOf(frame, [
      row(0, "source", "a", { stored: 1 }),
      row(4, "source", "a", { stored: 2 }),
      row(5, "source", "a", { stored: 4 }),
    ]);
    expect(series.since).toBe(new Date(NINE).toISOString());
    expect(series.sources[0]?.stored).toEqual([3, 4]);
  });

  it("says why a range cannot be told in these steps, and else nothing", () => {
    const rules = { nowMs: NINE, keptMs: 48 * 3_600_000 };
    expect(frameFault(NINE - 50 * 3_600_000, NINE, { ...rules, stepS: 300 })).toMatch(/kept for 48 h/);
    expect(frameFault(NINE - 30 * 3_600_000, NINE, { ...rules, stepS: 60 })).toMatch(/at most 1500/);
    expect(frameFault(NINE - 60 * 86_400_000, NINE, { ...rules, stepS: 3600 })).toBeUndefined();
    expect([3_600_000, 12 * 3_600_000, 86_400_000, 7 * 86_400_000, 90 * 86_400_000].map(defaultStep)).toEqual(
      [60, 900, 900, 21_600, 86_400],
    );
  });

  it("tells the busiest two hundred, and that there are more", () => {
    const frame = frameOf(NINE, NINE + 60_000, 60);
    const series = seriesOf(
      frame,
      Array.from({ length: 250 }, (_, n) =>
        row(0, "source", `s${String(n).padStart(3, "0")}`, { stored: n }),
      ),
    );
    expect(series.sources).toHaveLength(200);
    expect(series.sources[0]?.name).toBe("s050");
    expect(series.cut).toBe(true);
  });
});
