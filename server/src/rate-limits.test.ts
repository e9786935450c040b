import { describe, expect, it } from "vitest";
import { RateLimits } from "./rate-limits.js";

function limits() {
  const clock = { nowMs: 0 };
  return { clock, limits: new RateLimits({ times: 10, perMs: 1000, burst: 3 }, () => clock.nowMs) };
}

describe("a rate", () => {
  it("allows a burst, and then as many as time brings", () => {
    const { clock, limits: made } = limits();
    expect([1, 2, 3, 4].map(() => made.take("a"))).toEqual([true, true, true, false]);
    expect(made.waitMs("a")).toBe(100);
    clock.nowMs = 99;
    expect(made.take("a")).toBe(false);
    clock.nowMs = 100;
    expect([made.waitMs("a"), made.take("a"), made.take("a")]).toEqual([0, true, false]);
  });

  it("saves up no more than a burst", () => {
    const { clock, limits: made } = limits();
    made.take("a");
    clock.nowMs = 3_600_000;
    expect([1, 2, 3, 4].map(() => made.take("a"))).toEqual([true, true, true, false]);
  });

  it("counts each name for itself", () => {
    const { limits: made } = limits();
    for (let n = 0; n < 3; n++) made.take("a");
    expect([made.take("a"), made.take("b")]).toEqual([false, true]);
  });

  it("forgets the name that was counted the longest time ago, where there are too many", () => {
    const { limits: made } = limits();
    for (const name of ["a", "b"]) for (let n = 0; n < 3; n++) made.take(name);
    for (let n = 0; n < 9999; n++) made.take(`other ${n}`);
    expect([made.waitMs("a"), made.waitMs("b")]).toEqual([0, 100]);
  });
});
