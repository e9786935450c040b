import { describe, expect, it } from "vitest";
import { Endless, Scheduler } from "./scheduler.js";

describe("virtual time", () => {
  it("lets things happen in the order of their time, and of their planning where that is equal", async () => {
    const scheduler = new Scheduler(100);
    const happened: string[] = [];
    const plan = (ms: number, what: string): void =>
      void scheduler.after(ms, () => happened.push(`${what} at ${scheduler.now}`));
    plan(20, "c");
    plan(10, "a");
    plan(20, "d");
    plan(10, "b");
    await scheduler.run(() => false);
    expect(happened).toEqual(["a at 10", "b at 10", "c at 20", "d at 20"]);
  });

  it("waits for everything that a step has woken, before the next one", async () => {
    const scheduler = new Scheduler(100);
    const happened: string[] = [];
    const slow = async (): Promise<void> => {
      for (let n = 0; n < 50; n++) await Promise.resolve();
      happened.push("woken");
    };
    scheduler.after(1, () => {
      scheduler.woke();
      void slow();
    });
    scheduler.after(1, () => happened.push("next"));
    await scheduler.run(() => false);
    expect(happened).toEqual(["woken", "next"]);
  });

  it("gives what is to happen soon a turn of its own, however many of them follow each other", async () => {
    const scheduler = new Scheduler(1000);
    const happened: string[] = [];
    for (let n = 0; n < 200; n++) {
      scheduler.after(n, () => {
        scheduler.woke();
        void Promise.resolve().then(() => scheduler.soon(() => happened.push(`batch of ${n}`)));
        happened.push(`step ${n}`);
      });
    }
    await scheduler.run(() => false);
    const expected = Array.from({ length: 200 }, (_, n) => [
      `step ${n}`,
      ...(n > 0 ? [`batch of ${n - 1}`] : []),
    ]);
    expect(happened).toEqual([...expected.flat(), "batch of 199"]);
  });

  it("lets nothing happen that was called off", async () => {
    const scheduler = new Scheduler(100);
    const happened: string[] = [];
    scheduler.after(1, () => happened.push("called off")).action = undefined;
    await scheduler.run(() => false);
    expect(happened).toEqual([]);
  });

  it("ends a run that never ends", async () => {
    const scheduler = new Scheduler(100);
    const again = (): void => void scheduler.after(0, again);
    again();
    await expect(scheduler.run(() => false)).rejects.toBeInstanceOf(Endless);
  });
});
