import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "./clock.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Sleeps, and says whether the sleep has ended by now. */
function watched(sleep: Promise<void>): { ended: boolean } {
  const watch = { ended: false };
  void sleep.then(() => (watch.ended = true));
  return watch;
}

describe("the system's clock", () => {
  it("tells the wall time, and an interval that only grows", () => {
    vi.setSystemTime(1_794_770_453_123);
    expect(systemClock.now()).toBe(1_794_770_453_123);
    const before = systemClock.monotonic();
    vi.advanceTimersByTime(20);
    expect(systemClock.monotonic() - before).toBeCloseTo(20);
  });

  it("sleeps as long as asked", async () => {
    const sleep = watched(systemClock.sleep(1000));
    await vi.advanceTimersByTimeAsync(999);
    expect(sleep.ended).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(sleep.ended).toBe(true);
  });

  it("wakes at once when the signal aborts, and leaves neither timer nor listener behind", async () => {
    const controller = new AbortController();
    const removed = vi.spyOn(controller.signal, "removeEventListener");
    const sleep = systemClock.sleep(60_000, controller.signal);
    controller.abort();
    await sleep;
    expect(vi.getTimerCount()).toBe(0);
    expect(removed).toHaveBeenCalledOnce();
  });

  it("removes its listener after an undisturbed sleep, so that a long-lived signal does not fill up", async () => {
    const controller = new AbortController();
    const removed = vi.spyOn(controller.signal, "removeEventListener");
    const sleep = systemClock.sleep(5, controller.signal);
    await vi.advanceTimersByTimeAsync(5);
    await sleep;
    expect(removed).toHaveBeenCalledOnce();
  });

  it("does not sleep at all when the signal has aborted before", async () => {
    await systemClock.sleep(60_000, AbortSignal.abort());
    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not wake at once from a sleep longer than a timer can be", async () => {
    const sleep = watched(systemClock.sleep(30 * 86_400_000));
    await vi.advanceTimersByTimeAsync(86_400_000);
    expect(sleep.ended).toBe(false);
  });

  it("takes a negative time for none", async () => {
    const sleep = watched(systemClock.sleep(-5));
    await vi.advanceTimersByTimeAsync(0);
    expect(sleep.ended).toBe(true);
  });
});
