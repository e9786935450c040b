import { describe, expect, it } from "vitest";
import { afterRun, windowOf } from "./window.js";

const HOUR = 3_600_000;
const NOW = 1_000 * HOUR;
const facts = {
  nowMs: NOW,
  overlapMs: 300_000,
  keptMs: 72 * HOUR,
  rememberedMs: undefined,
  sinceMs: undefined,
};

describe("the window of a repair", () => {
  it("is our own downtime and the overlap before it", () => {
    expect(windowOf({ ...facts, cursorMs: NOW - HOUR })).toEqual({
      fromMs: NOW - HOUR - 300_000,
      baseMs: NOW - HOUR,
    });
  });

  it("is empty on the first run, unless somebody says since when", () => {
    expect(windowOf({ ...facts, cursorMs: undefined })).toBeUndefined();
    const since = { ...facts, cursorMs: undefined, sinceMs: NOW - HOUR };
    expect(windowOf(since)).toEqual({ fromMs: NOW - HOUR, baseMs: NOW - HOUR });
  });

  it("reaches no further back than the provider's log", () => {
    expect(windowOf({ ...facts, cursorMs: NOW - 100 * HOUR })?.fromMs).toBe(NOW - 72 * HOUR);
    expect(windowOf({ ...facts, cursorMs: undefined, sinceMs: 0 })?.fromMs).toBe(NOW - 72 * HOUR);
  });

  it("has nothing of the overlap that the receiver may have forgotten", () => {
    const remembering = { ...facts, rememberedMs: 2 * HOUR };
    const begins = (cursorMs: number) => windowOf({ ...remembering, cursorMs })?.fromMs;
    const forgottenMs = NOW - 2 * HOUR + 300_000;
    expect(begins(forgottenMs + 300_000)).toBe(forgottenMs);
    expect(begins(forgottenMs + 100_001)).toBe(forgottenMs);
    // By whole seconds, the last entry that was looked at would be read again.
    expect(begins(forgottenMs - HOUR + 1)).toBe(forgottenMs - HOUR + 1);
  });

  it("has all that was not looked at, also what the receiver may have forgotten", () => {
    const remembering = { ...facts, rememberedMs: 2 * HOUR };
    expect(windowOf({ ...remembering, cursorMs: NOW - 24 * HOUR })?.fromMs).toBe(NOW - 24 * HOUR);
    const first = { ...remembering, cursorMs: undefined, sinceMs: NOW - 24 * HOUR };
    expect(windowOf(first)?.fromMs).toBe(NOW - 24 * HOUR);
  });

  it("begins at a whole second, as providers count", () => {
    expect(windowOf({ ...facts, cursorMs: NOW + 700, nowMs: NOW + 900 })?.fromMs).toBe(NOW - 300_000);
  });

  it("is not skipped by a clock that was put back", () => {
    expect(windowOf({ ...facts, cursorMs: NOW + HOUR })).toEqual({ fromMs: NOW - 300_000, baseMs: NOW });
  });
});

describe("after a run", () => {
  const run = { startedMs: 90, baseMs: 50, newestMs: 70, heldMs: undefined, isCut: false };

  it("everything up to its start was looked at, and the cursor is just after the newest entry: our time may be wrong", () => {
    expect(afterRun(run)).toEqual({ untilMs: 90, cursorMs: 71 });
    expect(afterRun({ ...run, startedMs: 5000 })).toEqual({ untilMs: 5000, cursorMs: 71 });
  });

  it("without news the cursor stays, and the very first one is the run's start", () => {
    expect(afterRun({ ...run, newestMs: undefined })).toEqual({ untilMs: 90, cursorMs: 50 });
    expect(afterRun({ ...run, newestMs: 45 })).toEqual({ untilMs: 90, cursorMs: 50 });
    const first = { ...run, baseMs: undefined, newestMs: undefined };
    expect(afterRun(first)).toEqual({ untilMs: 90, cursorMs: 90 });
  });

  it("of a window that was cut, the cursor moves on to what was reached, of which some may be missing", () => {
    expect(afterRun({ ...run, isCut: true })).toEqual({ untilMs: 70, cursorMs: 70 });
  });

  it("the cursor stays before what the next run must find again", () => {
    expect(afterRun({ ...run, heldMs: 60 })).toEqual({ untilMs: 60, cursorMs: 60 });
    expect(afterRun({ ...run, heldMs: 60, isCut: true })).toEqual({ untilMs: 60, cursorMs: 60 });
  });

  it("the cursor does not go back to what the next run finds in its overlap", () => {
    expect(afterRun({ ...run, heldMs: 45 })).toEqual({ untilMs: 45, cursorMs: 50 });
    expect(afterRun({ ...run, heldMs: 45, isCut: true })).toEqual({ untilMs: 45, cursorMs: 50 });
  });

  it("a provider's clock that is ahead of ours moves the cursor no further than our own time", () => {
    expect(afterRun({ ...run, newestMs: 95 })).toEqual({ untilMs: 90, cursorMs: 90 });
  });
});
