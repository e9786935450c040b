// npx tsx scripts/simulate.ts [--runs 100000] [--from 0] [--processes 2]: a campaign of simulated runs.
//   --workers              runs of a stream that is stored first, and handled by workers
//   --seed 7 [--history]   one run, and its shortest failing script where it fails
//   --bugs [--runs 2000]   at which seed each planted bug is found
import { parseArgs } from "node:util";
import { median, runOf, SIZES, storeOf } from "../test/simulator/campaign.js";
import { explanationOf, findBugs, runCampaign } from "./prove/simulated.js";

// Nobody reads the stack of a fault that is injected thousands of times, and each costs as much as a call.
Error.stackTraceLimit = 3;

const { values } = parseArgs({
  options: {
    runs: { type: "string" },
    from: { type: "string", default: "0" },
    processes: { type: "string", default: "2" },
    seed: { type: "string" },
    history: { type: "boolean", default: false },
    bugs: { type: "boolean", default: false },
    workers: { type: "boolean", default: false },
  },
});

const world = values.workers ? "workers" : "delivery";

async function main(): Promise<void> {
  if (values.seed !== undefined) return oneRun(Number(values.seed));
  if (values.bugs) return bugs(Number(values.runs ?? "2000"));
  await manyRuns(Number(values.runs ?? "100000"), Number(values.from), Number(values.processes));
}

async function oneRun(seed: number): Promise<void> {
  const report = await runOf(seed, world);
  if (values.history) for (const line of report.history()) console.log(line);
  const store = world === "workers" ? "memory" : storeOf(seed);
  console.log(
    `seed ${seed} on the ${store} store: ${report.violations.length} violations, history ${report.hash()}`,
  );
  if (report.violations.length === 0) return;
  console.log(await explanationOf(seed, world));
  process.exitCode = 1;
}

async function bugs(runs: number): Promise<void> {
  await findBugs({ seeds: runs, processes: Number(values.processes) }, ({ name, found }) => {
    if (found === undefined) process.exitCode = 1;
    console.log(
      `${name}\n    ${found ? `seed ${found.seed}: ${found.invariant}, ${found.what}` : "NOT FOUND"}`,
    );
  });
}

async function manyRuns(runs: number, from: number, processes: number): Promise<void> {
  const startedAt = performance.now();
  const { report, cpuMs } = await runCampaign({ world, runs, from, processes });
  const seconds = (performance.now() - startedAt) / 1000;
  for (const [what, times] of Object.entries(report.counts).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${what} ${times}`);
  console.log(`medians of a run: ${SIZES.map((size) => `${median(report.sizes[size])} ${size}`).join(", ")}`);
  console.log(
    `${report.runs} runs in ${seconds.toFixed(0)} s on ${processes} processes, ${Math.round(report.runs / seconds)} a second, ` +
      `${(cpuMs / report.runs).toFixed(2)} ms of CPU each, ${report.failures.length} failed`,
  );
  for (const { seed, violations } of report.failures) {
    console.log(`FAILED seed ${seed}: ${violations[0]?.invariant} ${violations[0]?.found}`);
  }
  const [first] = report.failures;
  if (first === undefined) return;
  console.log(await explanationOf(first.seed, world));
  process.exitCode = 1;
}

await main();
