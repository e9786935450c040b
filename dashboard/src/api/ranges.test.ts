import { describe, expect, it } from "vitest";
import { perStep, windowOf } from "./ranges.ts";

const of = (query: string) => windowOf(new URLSearchParams(query), "1h");

describe("the part of the time that a page shows", () => {
  it("is named in its address, and has a usual one", () => {
    expect(of("")).toMatchObject({ name: "1h", stepS: 60, query: { since: "1h", step: 60 } });
    expect(of("range=7d")).toMatchObject({ name: "7d", stepS: 3600 });
    expect(of("range=for-ever")).toMatchObject({ name: "1h" });
  });

  it("that was zoomed into has steps that the server still keeps, and not too many", () => {
    const now = Date.now();
    const iso = (agoMs: number): string => new Date(now - agoMs).toISOString();
    expect(of(`since=${iso(3_600_000)}&until=${iso(0)}`)).toMatchObject({ name: "", stepS: 60 });
    expect(of(`since=${iso(12 * 3_600_000)}&until=${iso(0)}`)).toMatchObject({ stepS: 900 });
    // Minutes are gone after two days.
    expect(of(`since=${iso(72 * 3_600_000)}&until=${iso(71 * 3_600_000)}`)).toMatchObject({ stepS: 3600 });
    expect(of(`since=${iso(0)}&until=${iso(3_600_000)}`)).toMatchObject({ name: "1h" });
  });

  it("says what one step is", () => {
    expect([60, 300, 3600, 21_600, 86_400].map((stepS) => perStep(stepS))).toEqual([
      "per minute",
      "per 5 minutes",
      "per hour",
      "per 6 hours",
      "per day",
    ]);
  });
});
