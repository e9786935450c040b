import { describe, expect, it } from "vitest";
import { labelled, linePath, roundUp, sum, ticks, timeLabel } from "./scale.ts";

describe("a chart", () => {
  it.each([
    [0, 1],
    [1, 1],
    [7, 8],
    [37, 40],
    [1160, 1500],
    [9001, 10_000],
  ])("that shows up to %i reaches to %i", (value, most) => {
    expect(roundUp(value)).toBe(most);
  });

  it("has round figures on its side, and none between two counts", () => {
    expect(ticks(1500, 3)).toEqual([0, 500, 1000, 1500]);
    expect(ticks(40, 4)).toEqual([0, 10, 20, 30, 40]);
    expect(ticks(1, 3)).toEqual([0, 1]);
  });

  it("says the time of a step, and its day where there are several", () => {
    const at = new Date(2026, 10, 18, 8, 5).getTime();
    expect(timeLabel(at, 3_600_000)).toBe("08:05");
    expect(timeLabel(at, 2 * 86_400_000)).toBe("18 Nov 08:05");
    expect(timeLabel(at, 7 * 86_400_000)).toBe("18 Nov");
  });

  it("labels its first step, and no more than asked for", () => {
    expect(labelled(60, 4)).toEqual([0, 15, 30, 45]);
    expect(labelled(3, 5)).toEqual([0, 1, 2]);
    expect(labelled(0, 5)).toEqual([]);
  });

  it("draws a line from edge to edge, its largest value highest", () => {
    const { line, area } = linePath([0, 4, null], { width: 100, height: 20 });
    expect(line).toBe("M0.0 19.0L50.0 2.0L100.0 19.0");
    expect(area.endsWith("V20H0Z")).toBe(true);
    expect(sum([1, null, 2])).toBe(3);
  });
});
