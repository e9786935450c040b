import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../testing/fake-clock.js";
import { InProgress, Timeouts } from "./deadlines.js";

function setUp() {
  const clock = createFakeClock();
  const ended: string[] = [];
  const timeouts = new Timeouts(clock, 1000);
  const start = (name: string) => timeouts.start(() => ended.push(name));
  return { clock, ended, timeouts, start };
}

describe("timeouts of one limit", () => {
  it("end each at its own time, in their order", async () => {
    const { clock, ended, start } = setUp();
    start("a");
    await clock.advance(400);
    start("b");
    await clock.advance(599);
    expect(ended).toEqual([]);
    await clock.advance(1);
    expect(ended).toEqual(["a"]);
    await clock.advance(399);
    expect(ended).toEqual(["a"]);
    await clock.advance(1);
    expect(ended).toEqual(["a", "b"]);
  });

  it("never end what was stopped", async () => {
    const { clock, ended, timeouts, start } = setUp();
    const a = start("a");
    start("b");
    await clock.advance(500);
    timeouts.stop(a);
    await clock.advance(5000);
    expect(ended).toEqual(["b"]);
  });

  it("share one timer, and leave none behind", async () => {
    const { clock, ended, timeouts, start } = setUp();
    const all = Array.from({ length: 100 }, (_, n) => start(String(n)));
    expect(clock.sleeping).toBe(1);
    for (const each of all) timeouts.stop(each);
    expect(clock.sleeping).toBe(0);
    start("next");
    await clock.advance(999);
    const later = start("later");
    await clock.advance(1);
    expect(ended).toEqual(["next"]);
    timeouts.stop(later);
    await clock.advance(0);
    expect(clock.sleeping).toBe(0);
  });

  it("are watched again when the last one stops and another starts at the same moment", async () => {
    const { clock, ended, timeouts, start } = setUp();
    timeouts.stop(start("a"));
    start("b");
    await clock.advance(1000);
    expect(ended).toEqual(["b"]);
  });
});

const never = new Promise<never>(() => undefined);

describe("an event in progress", () => {
  it("is held until its work ends, well or badly", async () => {
    const inProgress = new InProgress(createFakeClock(), 5000);
    const good = inProgress.watch("a", Promise.resolve(1));
    const bad = inProgress.watch("b", Promise.reject(new Error("no")));
    expect([inProgress.has("a"), inProgress.has("b"), inProgress.has("c")]).toEqual([true, true, false]);
    expect(await good).toBe(1);
    await expect(bad).rejects.toThrow("no");
    expect([inProgress.has("a"), inProgress.has("b")]).toEqual([false, false]);
  });

  it("is given up when the store has not answered in time, and is free again", async () => {
    const clock = createFakeClock();
    const inProgress = new InProgress(clock, 5000);
    const hanging = inProgress.watch("a", never);
    hanging.catch(() => undefined);
    await clock.advance(4000);
    const later = inProgress.watch("b", never);
    later.catch(() => undefined);
    expect(inProgress.has("a")).toBe(true);
    await clock.advance(2000);
    await expect(hanging).rejects.toMatchObject({ code: "store_unavailable" });
    expect([inProgress.has("a"), inProgress.has("b")]).toEqual([false, true]);
    await clock.advance(5000);
    await expect(later).rejects.toMatchObject({ code: "store_unavailable" });
  });

  it("that was given up does not free its key when it ends after all, which may be held for the next delivery", async () => {
    const clock = createFakeClock();
    const inProgress = new InProgress(clock, 5000);
    const hanging = inProgress.watch("a", clock.sleep(6000));
    hanging.catch(() => undefined);
    await clock.advance(5000);
    inProgress.watch("a", never).catch(() => undefined);
    await clock.advance(1000);
    expect(inProgress.has("a")).toBe(true);
  });
});
