// One process of a campaign: built and started by scripts/prove/simulated.ts, which hears what it says.
import { simulate } from "../../simulator/simulate.js";
import { simulateStored } from "../../simulator/simulate-stored.js";
import { campaign } from "./campaign.js";
import type { CampaignReport, World } from "./campaign.js";
import { useLightAbort } from "./light-abort.js";
import { openStoredMemory } from "./journaled-memory.js";
import { planted, PLANTED_BUGS, WORKER_BUGS } from "./planted-bugs.js";

useLightAbort();

// Nobody reads the stack of a fault that is injected thousands of times, and each costs as much as a call.
Error.stackTraceLimit = 0;

/** What a process of a campaign says. */
export type Said =
  | { readonly kind: "progress"; readonly done: number }
  | { readonly kind: "report"; readonly report: CampaignReport; readonly cpuMs: number }
  | { readonly kind: "bug"; readonly name: string; readonly found: Found | undefined }
  | { readonly kind: "end" };

/** Where a planted bug was found. */
export interface Found {
  readonly seed: number;
  readonly invariant: string;
  readonly what: string;
}

const PROGRESS_EVERY = 500;

/** What of a campaign this process does. */
interface Share {
  readonly from: number;
  readonly runs: number;
  readonly stride: number;
}

/** Resolves when it is said: a process that ends at once would take a large report with it. */
function say(said: Said): Promise<void> {
  return new Promise((resolve) => {
    if (process.send) process.send(said, undefined, undefined, () => resolve());
    else resolve();
  });
}

async function runCampaign(world: World, share: Share): Promise<void> {
  const onProgress = (done: number): void => void say({ kind: "progress", done });
  const report = await campaign({ world, ...share, every: PROGRESS_EVERY, onProgress });
  const { user, system } = process.cpuUsage();
  await say({ kind: "report", report, cpuMs: (user + system) / 1000 });
}

async function findBugs({ from, runs: seeds, stride }: Share): Promise<void> {
  const ofDelivery = PLANTED_BUGS.map((bug) => ({
    name: bug.name,
    run: async (seed: number) => (await simulate(seed, planted(bug))).violations,
  }));
  const ofWorkers = WORKER_BUGS.map(({ name, decisions }) => ({
    name,
    run: async (seed: number) =>
      (await simulateStored(seed, { openStore: openStoredMemory, decisions })).violations,
  }));
  for (const bug of [...ofDelivery, ...ofWorkers].filter((_, index) => index % stride === from)) {
    let found: Found | undefined;
    for (let seed = 0; seed < seeds && found === undefined; seed++) {
      const [violation] = await bug.run(seed);
      if (violation !== undefined) found = { seed, invariant: violation.invariant, what: violation.found };
    }
    await say({ kind: "bug", name: bug.name, found });
  }
}

const [mode, ...numbers] = process.argv.slice(2);
const [from = 0, runs = 0, stride = 1] = numbers.map(Number);
const share = { from, runs, stride };
await (mode === "bugs" ? findBugs(share) : runCampaign(mode === "workers" ? "workers" : "delivery", share));
await say({ kind: "end" });
if (process.connected) process.disconnect();
