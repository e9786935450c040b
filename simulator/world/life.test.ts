import { describe, expect, it } from "vitest";
import { Life } from "./life.js";
import { Random } from "./random.js";
import { Scheduler } from "./scheduler.js";

function born(rate = 1) {
  const scheduler = new Scheduler(1000);
  const error = { skewMs: 0, rate };
  return { scheduler, error, life: new Life(scheduler, error, new Random(1)) };
}

describe("a simulated process", () => {
  it("does nothing any more after its end, whatever it waited for", async () => {
    const { scheduler, life } = born();
    const done: string[] = [];
    const work = async (): Promise<void> => {
      await life.sleep(10);
      done.push("slept");
      await life.ask<void>((resolve) => life.after(10, resolve));
      done.push("was answered");
      await life.sleep(10);
      done.push("slept again");
    };
    void work();
    scheduler.after(15, () => life.end());
    await scheduler.run(() => false);
    expect(done).toEqual(["slept"]);
    expect(scheduler.now).toBe(20);
  });

  it("asks nothing after its end", async () => {
    const { scheduler, life } = born();
    life.end();
    let asked = false;
    void life.ask(() => (asked = true));
    await scheduler.run(() => false);
    expect(asked).toBe(false);
  });

  it("does nothing while it is stopped, and everything in its order when it goes on", async () => {
    const { scheduler, life } = born();
    const done: string[] = [];
    for (const ms of [10, 20]) life.after(ms, () => done.push(`${ms} at ${scheduler.now}`));
    scheduler.after(5, () => life.stop());
    scheduler.after(100, () => life.goOn());
    await scheduler.run(() => false);
    expect(done).toEqual(["10 at 100", "20 at 100"]);
  });

  it("has clocks that are off as they are told", async () => {
    const { scheduler, error, life } = born(1.25);
    const wall = life.now();
    error.skewMs = 500;
    scheduler.after(100, () => undefined);
    await scheduler.run(() => false);
    expect([life.now() - wall, life.monotonic()]).toEqual([600, 125]);
  });
});
