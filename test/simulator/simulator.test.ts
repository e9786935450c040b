import { scriptOf, simulate } from "posthorn/testing";
import { describe, expect, it } from "vitest";
import { openMemoryStore } from "./memory-engine.js";

const SEEDS = 150;

describe("a simulated run", () => {
  it("breaks no promise, on the model store", async () => {
    for (let seed = 0; seed < SEEDS; seed++) {
      expect([seed, (await simulate(seed)).violations]).toEqual([seed, []]);
    }
  });

  it("breaks no promise, on the shipped memory store", async () => {
    for (let seed = 0; seed < SEEDS / 3; seed++) {
      const { violations } = await simulate(seed, { openStore: openMemoryStore });
      expect([seed, violations]).toEqual([seed, []]);
    }
  });

  it("is the same again from the same seed, whatever ran between", async () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const first = await simulate(seed);
      await simulate(seed + 100);
      const second = await simulate(seed);
      expect(second.history()).toEqual(first.history());
      expect(second.hash()).toBe(first.hash());
    }
  });

  it("is the same while another runs beside it", async () => {
    const alone = await simulate(6);
    const [beside] = await Promise.all([simulate(6), simulate(7)]);
    expect(beside.hash()).toBe(alone.hash());
  });

  it("is another one from another seed", async () => {
    expect((await simulate(8)).hash()).not.toBe((await simulate(9)).hash());
    expect(scriptOf(8)).not.toEqual(scriptOf(9));
  });

  it("meets every fault and every contention that it is made to meet", async () => {
    const counts = new Map<string, number>();
    for (let seed = 1000; seed < 1000 + SEEDS; seed++) {
      for (const [what, times] of (await simulate(seed)).counts)
        counts.set(what, (counts.get(what) ?? 0) + times);
    }
    const never = MET.filter((what) => !counts.has(what));
    expect(never).toEqual([]);
  });
});

const MET = [
  ...["crash", "restart", "stop", "clock", "cut", "power", "kill"].map((what) => `fault.${what}`),
  ...["reject", "lost", "hang", "late", "slow"].map((what) => `fault.store.${what}`),
  ...["refused", "lost_request", "lost_answer", "duplicate", "late"].map((what) => `fault.wire.${what}`),
  ...["status_500", "status_429", "status_413", "status_410"].map((what) => `fault.wire.${what}`),
  ...["applied", "duplicate", "busy", "failed", "unavailable"].map((what) => `verdict.${what}`),
  ...["ok", "fail", "unknown", "again"].map((what) => `publish.${what}`),
  ...["redrive", "skip", "pause"].map((what) => `operator.${what}`),
  "settle.stale",
  "settle.next",
  "claim.run",
  "claim.lapsed",
  "claim.alone",
  "redrive.in_place",
  "redrive.at_end",
  "redrive.unknown",
  "skip.skipped",
  "skip.intended",
];
