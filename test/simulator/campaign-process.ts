// One process of a campaign: built and started by scripts/prove/simulated.ts, which hears what it says.
import { simulate } from "../../simulator/simulate.js";
import { campaign } from "./campaign.js";
import type { CampaignReport } from "./campaign.js";
import { useLightAbort } from "./light-abort.js";
import { planted, PLANTED_BUGS } from "./planted-bugs.js";

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

/** Resolves when it is said: a process that ends at once would take a large report with it. */
function say(said: Said): Promise<void> {
  return new Promise((resolve) => {
    if (process.send) process.send(said, undefined, undefined, () => resolve());
    else resolve();
  });
}

async function runCampaign(from: number, runs: number, stride: number): Promise<void> {
  const onProgress = (done: number): void => void say({ kind: "progress", done });
  const report = await campaign({ from, runs, stride, every: PROGRESS_EVERY, onProgress });
  const { user, system } = process.cpuUsage();
  await say({ kind: "report", report, cpuMs: (user + system) / 1000 });
}

async function findBugs(from: number, seeds: number, stride: number): Promise<void> {
  for (const bug of PLANTED_BUGS.filter((_, index) => index % stride === from)) {
    const options = planted(bug);
    let found: Found | undefined;
    for (let seed = 0; seed < seeds && found === undefined; seed++) {
      const [violation] = (await simulate(seed, options)).violations;
      if (violation !== undefined) found = { seed, invariant: violation.invariant, what: violation.found };
    }
    await say({ kind: "bug", name: bug.name, found });
  }
}

const [mode, ...numbers] = process.argv.slice(2);
const [from = 0, many = 0, stride = 1] = numbers.map(Number);
await (mode === "bugs" ? findBugs(from, many, stride) : runCampaign(from, many, stride));
await say({ kind: "end" });
if (process.connected) process.disconnect();
