import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../testing/fake-clock.js";
import type { LockedRow } from "./locked-rows.js";
import { Watermarks } from "./claim-watermarks.js";

function rows(endpoint: bigint, readyAtS: number): LockedRow[] {
  const row = { endpoint: { number: endpoint }, readyAtS };
  return Array.from({ length: 10 }, (_, n) => ({ ...row, readyAtS: readyAtS + n }) as unknown as LockedRow);
}

describe("the time before which a claim need not look", () => {
  it("is a little before the one that waited longest, for each endpoint", () => {
    const marks = new Watermarks(createFakeClock());
    expect(marks.params()).toEqual(["{}", "{}"]);
    marks.learn([...rows(1n, 100), ...rows(2n, 200)]);
    expect(marks.params()).toEqual(["{1,2}", "{95,195}"]);
    marks.learn(rows(1n, 150));
    expect(marks.params()).toEqual(["{1,2}", "{145,195}"]);
  });

  it("is forgotten after two seconds, however often it is learned: what was locked or late is seen then", async () => {
    const clock = createFakeClock();
    const marks = new Watermarks(clock);
    marks.learn(rows(1n, 100));
    await clock.advance(1500);
    marks.learn(rows(1n, 101));
    expect(marks.isEmpty).toBe(false);
    await clock.advance(500);
    expect(marks.params()).toEqual(["{}", "{}"]);
  });

  it("is not learned from a few", () => {
    const marks = new Watermarks(createFakeClock());
    marks.learn(rows(1n, 100).slice(0, 3));
    expect(marks.isEmpty).toBe(true);
  });
});
