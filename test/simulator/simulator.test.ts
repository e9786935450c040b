import { scriptOf } from "../../simulator/script/script-of-seed.js";
import { simulate } from "../../simulator/simulate.js";
import { beforeAll, describe, expect, it } from "vitest";
import { campaign } from "./campaign.js";
import type { CampaignReport } from "./campaign.js";
import { useLightAbort } from "./light-abort.js";

// `npx tsx scripts/simulate.ts` runs a hundred thousand.
const SEEDS = 250;

describe("simulated runs", () => {
  let report: CampaignReport;
  beforeAll(async () => {
    report = await campaign({ from: 0, runs: SEEDS });
  }, 60_000);

  it("break no promise, on the model store and on the shipped memory store", () => {
    expect(report.failures).toEqual([]);
    expect(report.runs).toBe(SEEDS);
  });

  it("meet every fault and every contention that they are made to meet", () => {
    expect(MET.filter((what) => !Object.hasOwn(report.counts, what))).toEqual([]);
  });
});

describe("a simulated run", () => {
  it("is the same again from the same seed, whatever ran between", async () => {
    for (const seed of [1, 2, 3]) {
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

  it("is the same in the processes of a campaign, which have a light AbortController", async () => {
    const platforms = globalThis.AbortController;
    for (const seed of [10, 11, 12, 13]) {
      const here = await simulate(seed);
      useLightAbort();
      const there = await simulate(seed).finally(() =>
        Object.assign(globalThis, { AbortController: platforms }),
      );
      expect(there.hash()).toBe(here.hash());
    }
  });

  it("is another one from another seed", async () => {
    expect((await simulate(8)).hash()).not.toBe((await simulate(9)).hash());
    expect(scriptOf(8)).not.toEqual(scriptOf(9));
  });
});

const MET = [
  ...["crash", "restart", "stop", "clock", "cut", "power", "kill"].map((what) => `fault.${what}`),
  ...["reject", "lost", "hang", "late", "slow"].map((what) => `fault.store.${what}`),
  ...["held", "refused", "lost_request", "lost_answer", "duplicate", "late"].map(
    (what) => `fault.wire.${what}`,
  ),
  ...["status_500", "status_429", "status_413", "status_410"].map((what) => `fault.wire.${what}`),
  ...["applied", "duplicate", "busy", "failed", "unavailable"].map((what) => `verdict.${what}`),
  ...["ok", "fail", "unknown", "again"].map((what) => `publish.${what}`),
  ...["redrive", "skip", "pause"].map((what) => `operator.${what}`),
  "power.answers_lost",
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
  "skip.unknown",
];
