import { describe, expect, it } from "vitest";
import { nextCursor, windowStart } from "./window.js";

const HOUR = 3_600_000;
const NOW = 1_000 * HOUR;
const facts = { nowMs: NOW, overlapMs: 300_000, keptMs: 72 * HOUR, sinceMs: undefined };

describe("the window of a repair", () => {
  it("is our own downtime and the overlap before it", () => {
    expect(windowStart({ ...facts, cursorMs: NOW - HOUR })).toBe(NOW - HOUR - 300_000);
  });

  it("is empty on the first run, unless somebody says since when", () => {
    expect(windowStart({ ...facts, cursorMs: undefined })).toBeUndefined();
    expect(windowStart({ ...facts, cursorMs: undefined, sinceMs: NOW - HOUR })).toBe(NOW - HOUR);
  });

  it("reaches no further back than the provider's log", () => {
    expect(windowStart({ ...facts, cursorMs: NOW - 100 * HOUR })).toBe(NOW - 72 * HOUR);
    expect(windowStart({ ...facts, cursorMs: undefined, sinceMs: 0 })).toBe(NOW - 72 * HOUR);
  });

  it("is not skipped by a clock that was put back", () => {
    expect(windowStart({ ...facts, cursorMs: NOW + HOUR })).toBe(NOW - 300_000);
  });
});

describe("the cursor after a run", () => {
  it("is the start of the run: what came during it is read by the next", () => {
    expect(nextCursor({ startedMs: 9, unsettledMs: undefined, reachedMs: undefined })).toBe(9);
  });

  it("stays before what was not applied, and before what was not looked at", () => {
    expect(nextCursor({ startedMs: 9, unsettledMs: 5, reachedMs: undefined })).toBe(5);
    expect(nextCursor({ startedMs: 9, unsettledMs: undefined, reachedMs: 7 })).toBe(7);
    expect(nextCursor({ startedMs: 9, unsettledMs: 5, reachedMs: 3 })).toBe(3);
  });
});
