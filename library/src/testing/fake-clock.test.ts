import { describe, expect, it, vi } from "vitest";
import { createFakeClock } from "./fake-clock.js";

describe("a fake clock", () => {
  it("stands still until it is told to move, and then moves both its times", async () => {
    const clock = createFakeClock({ at: 1000 });
    expect([clock.now(), clock.monotonic()]).toEqual([1000, 0]);
    await clock.advance(250);
    expect([clock.now(), clock.monotonic()]).toEqual([1250, 250]);
  });

  it("turns the wall clock alone, back too, and wakes nobody by it", async () => {
    const clock = createFakeClock({ at: 1000 });
    const woken = vi.fn<() => void>();
    void clock.sleep(10).then(woken);
    clock.set(new Date(5));
    await clock.advance(0);
    expect([clock.now(), clock.monotonic(), clock.sleeping]).toEqual([5, 0, 1]);
    expect(woken).not.toHaveBeenCalled();
    await clock.advance(10);
    expect(clock.now()).toBe(15);
    expect(woken).toHaveBeenCalledOnce();
  });

  it("wakes sleepers in the order of their waking times, each at its own time", async () => {
    const clock = createFakeClock({ at: 0 });
    const woken: string[] = [];
    const sleeper = (name: string, ms: number): void =>
      void clock.sleep(ms).then(() => woken.push(`${name} at ${clock.now()}`));
    sleeper("late", 300);
    sleeper("early", 100);
    sleeper("also early", 100);
    sleeper("never", 301);
    await clock.advance(300);
    expect(woken).toEqual(["early at 100", "also early at 100", "late at 300"]);
    expect(clock.sleeping).toBe(1);
  });

  it("wakes one that sleeps again within the time that passes", async () => {
    const clock = createFakeClock({ at: 0 });
    const ticks: number[] = [];
    void (async () => {
      for (;;) {
        await clock.sleep(100);
        ticks.push(clock.now());
      }
    })();
    await clock.advance(350);
    expect(ticks).toEqual([100, 200, 300]);
  });

  it("wakes at once when the signal aborts, and does not sleep when it has aborted before", async () => {
    const clock = createFakeClock();
    const controller = new AbortController();
    const asleep = clock.sleep(1000, controller.signal);
    controller.abort();
    await asleep;
    await clock.sleep(1000, AbortSignal.abort());
    expect(clock.sleeping).toBe(0);
  });

  it("refuses to let time pass backwards", async () => {
    await expect(createFakeClock().advance(-1)).rejects.toThrow(/use set/);
    await expect(createFakeClock().advance(Number.NaN)).rejects.toThrow(RangeError);
  });

  it("lets the woken run though the test runner has faked the timers", async () => {
    vi.useFakeTimers();
    try {
      const clock = createFakeClock();
      const asleep = clock.sleep(5);
      await clock.advance(5);
      await asleep;
    } finally {
      vi.useRealTimers();
    }
  });

  it("passes until a promise is settled, well or badly, and no longer than a step more", async () => {
    const clock = createFakeClock();
    const nap = async (): Promise<string> => {
      await clock.sleep(95);
      await clock.sleep(100);
      return "rested";
    };
    expect(await clock.until(nap())).toBe("rested");
    expect(clock.monotonic()).toBe(200);
    await expect(clock.until(Promise.reject(new Error("no")))).rejects.toThrow("no");
  });
});
