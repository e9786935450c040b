import { beforeAll, describe, expect, it } from "vitest";
import { simulateStored } from "../../simulator/simulate-stored.js";
import { storedScriptOf } from "../../simulator/stored/script-of-seed.js";
import { printStoredScript } from "../../simulator/stored/script.js";
import { shrinkStored } from "../../simulator/stored/shrink.js";
import { campaign } from "./campaign.js";
import type { CampaignReport } from "./campaign.js";
import { openStoredMemory } from "./journaled-memory.js";
import { useLightAbort } from "./light-abort.js";
import { WORKER_BUGS } from "./planted-bugs.js";
import { searched } from "./searched.js";
import { unmet } from "./workers-met.js";

// `npx tsx scripts/simulate.ts --workers --runs 31000` sends a million events.
const SEEDS = 100;
const MOST_SEEDS = 2000;

const options = { openStore: openStoredMemory };

describe("simulated runs of workers", () => {
  let report: CampaignReport;
  beforeAll(async () => {
    report = await campaign({ world: "workers", from: 0, runs: SEEDS });
  }, 120_000);

  it("lose nothing, double nothing and overtake nothing", () => {
    expect(report.failures).toEqual([]);
    expect(report.runs).toBe(SEEDS);
  });

  it("meet every fault, every trouble and every contention that they are made to meet", () => {
    expect(unmet(report.counts)).toEqual([]);
  });
});

describe("a simulated run of workers", () => {
  it("is the same again from the same seed, beside others and in the processes of a campaign", async () => {
    const platforms = globalThis.AbortController;
    for (const seed of [3, 5, 8]) {
      const first = await simulateStored(seed, options);
      const [beside] = await Promise.all([simulateStored(seed, options), simulateStored(seed + 1, options)]);
      expect(beside.history()).toEqual(first.history());
      useLightAbort();
      const there = await simulateStored(seed, options).finally(() =>
        Object.assign(globalThis, { AbortController: platforms }),
      );
      expect(there.hash()).toBe(first.hash());
    }
  });

  it("is another one from another seed", async () => {
    expect((await simulateStored(8, options)).hash()).not.toBe((await simulateStored(9, options)).hash());
    expect(storedScriptOf(8)).not.toEqual(storedScriptOf(9));
  });
});

describe("simulated runs of workers find", () => {
  it.each(WORKER_BUGS)("$name", { timeout: 120_000 }, async ({ foundAt, ...bug }) => {
    const planted = { ...options, ...bug };
    const finds = async (seed: number): Promise<boolean> =>
      (await simulateStored(seed, planted)).violations.length > 0;
    expect(await searched(bug.name, { from: foundAt, most: MOST_SEEDS, finds })).toBeDefined();
  });

  it("a script that is short, where it is shrunk", { timeout: 240_000 }, async () => {
    const [bug] = WORKER_BUGS;
    if (bug === undefined) throw new Error("The bug is gone.");
    const planted = { ...options, decisions: bug.decisions };
    const before = storedScriptOf(bug.foundAt);
    const shrunk = await shrinkStored(before, planted);
    expect(shrunk?.violation.invariant).toBe("W1 lost");
    expect(shrunk?.script.steps.length).toBeLessThan(before.steps.length / 3);
    expect(printStoredScript(shrunk?.script ?? before)).toContain(`seed ${bug.foundAt}`);
  });
});
