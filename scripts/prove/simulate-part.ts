import { availableParallelism } from "node:os";
import type { Bench, Part } from "../../test/prove/part.js";
import { median } from "../../test/simulator/campaign.js";
import type { CampaignReport, Size, World } from "../../test/simulator/campaign.js";
import { unmet } from "../../test/simulator/workers-met.js";
import { explanationOf, findBugs, runCampaign } from "./simulated.js";

const RUNS = { ci: 80_000, long: 1_000_000 };
/** A run has 33 events on average, so these send a hundred thousand of them in ci, a million overnight. */
const WORKER_RUNS = { ci: 3200, long: 31_000 };
const LEAST_EVENTS = { ci: 100_000, long: 1_000_000 };
/** What a run must have, in the middle: smaller ones would be many and prove little. */
const LEAST: Partial<Record<Size, number>> = { nodes: 3, events: 20, calls: 100, faults: 5 };
const LEAST_OF_WORKERS: Partial<Record<Size, number>> = { nodes: 2, events: 20, calls: 100, faults: 5 };
/** Each seed of ours is a million of the simulator's. */
const SEEDS_EACH = 1_000_000;
const MOST_SEEDS = 2000;

// More processes than cores are slower together.
const processes = Math.min(2, availableParallelism());

export const simulatePart: Part = {
  name: "simulate",
  about: "runs of the shipped receiver, sender and work loop in a world of faults, on virtual time",
  budgetS: { ci: 240, long: 3600 },
  async run(bench) {
    await runAll(bench, { world: "delivery", count: RUNS[bench.depth], least: LEAST });
  },
};

export const simulateWorkersPart: Part = {
  name: "simulate workers",
  about:
    "a stream that is reordered, doubled and gapped, stored first and handled by workers in such a world",
  budgetS: { ci: 60, long: 900 },
  async run(bench) {
    const count = WORKER_RUNS[bench.depth];
    const { counts } = await runAll(bench, { world: "workers", count, least: LEAST_OF_WORKERS });
    const { events = 0, stored = 0, effects = 0 } = counts;
    const broken = (law: string): number => counts[`broken.${law}`] ?? 0;
    bench.note(
      `${events} events in total, ${stored} stored, ${effects} effects: ${broken("W1 lost")} lost, ` +
        `${broken("W2 doubled")} doubled, ${broken("W3 order") + broken("W5 hold")} out of order`,
    );
    const least = LEAST_EVENTS[bench.depth];
    bench.expect(`${events} events were sent, at least ${least}`, events >= least);
    const missed = unmet(counts);
    bench.expect(
      `everything occurred that runs are made to meet: ${missed.join(", ") || "all"}`,
      missed.length === 0,
    );
  },
};

interface Wish {
  readonly world: World;
  readonly count: number;
  readonly least: Partial<Record<Size, number>>;
}

async function runAll(bench: Bench, { world, count, least }: Wish): Promise<CampaignReport> {
  const startedAt = performance.now();
  const onProgress = (done: number): void => {
    const rate = done / ((performance.now() - startedAt) / 1000);
    bench.progress(`${done} of ${count} runs, ${Math.round(rate)} a second`);
  };
  const from = (bench.seed - 1) * SEEDS_EACH;
  const { report, cpuMs } = await runCampaign({ world, runs: count, from, processes, onProgress });
  const { counts, sizes, failures } = report;
  for (const what of ["calls", "posts"]) bench.count(what, counts[what] ?? 0);
  for (const [what, times] of Object.entries(counts)) if (what.startsWith("fault.")) bench.count(what, times);
  bench.note(`${(cpuMs / report.runs).toFixed(2)} ms of CPU for each run, seeds from ${from}`);
  for (const [size, few] of Object.entries(least)) {
    const middle = median(sizes[size as Size]);
    bench.note(`the median run has ${middle} ${size}`);
    bench.expect(`the median run has ${middle} ${size}, at least ${few}`, middle >= few);
  }
  for (const { seed, violations } of failures)
    bench.note(`seed ${seed}: ${violations[0]?.invariant} ${violations[0]?.found}`);
  bench.expect(`${report.runs} runs, ${failures.length} of them failed`, failures.length === 0);
  bench.expect(`all of ${count} runs were made`, report.runs === count);
  const [first] = failures;
  if (first !== undefined) bench.note(await explanationOf(first.seed, world));
  return report;
}

export const plantedBugsPart: Part = {
  name: "planted bugs",
  about: `every planted bug of logic is found by the simulator within ${MOST_SEEDS} seeds`,
  budgetS: { ci: 30, long: 30 },
  async run(bench) {
    let found = 0;
    let runs = 0;
    await findBugs({ seeds: MOST_SEEDS, processes }, (bug) => {
      if (bug.found !== undefined) found++;
      runs += 1 + (bug.found?.seed ?? MOST_SEEDS - 1);
      const how = bug.found ? `at seed ${bug.found.seed}, by ${bug.found.invariant}` : "NOT FOUND";
      bench.note(`${bug.name}: ${how}`);
      bench.expect(`found: ${bug.name}`, bug.found !== undefined);
      bench.progress(`${found} bugs found`);
    });
    bench.count("bugs found", found);
    bench.count("runs", runs);
  },
};
