import { describe, expect, it } from "vitest";
import { createFakeClock } from "../testing/fake-clock.js";
import { InProgress } from "./in-progress.js";

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
