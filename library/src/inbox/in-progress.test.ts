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

  it("is watched by one timer, whatever the number, and by none when there is nothing to watch", async () => {
    const clock = createFakeClock();
    const inProgress = new InProgress(clock, 5000);
    const all = Array.from({ length: 100 }, (_, n) => inProgress.watch(String(n), Promise.resolve()));
    expect(clock.sleeping).toBe(1);
    await Promise.all(all);
    await clock.advance(1000);
    expect(clock.sleeping).toBe(0);
  });
});
