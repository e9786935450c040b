// npx tsx scripts/simulate.ts [--runs 100000] [--from 0] [--processes 2]: a campaign of simulated runs.
//   --seed 7 [--history]   one run, and its shortest failing script where it fails
//   --bugs [--runs 2000]   at which seed each planted bug is found
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { printScript, shrink, simulate } from "../library/src/testing.js";
import type { SimulateOptions } from "../library/src/testing.js";
import { joined, median, SIZES, storeOf } from "../test/simulator/campaign.js";
import type { CampaignReport } from "../test/simulator/campaign.js";
import { openMemoryStore } from "../test/simulator/memory-engine.js";
import { planted, PLANTED_BUGS } from "../test/simulator/planted-bugs.js";

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
  },
});

async function main(): Promise<void> {
  if (values.seed !== undefined) return oneRun(Number(values.seed));
  if (values.bugs) return bugs(Number(values.runs ?? "2000"));
  await manyRuns(Number(values.runs ?? "100000"), Number(values.from), Number(values.processes));
}

function optionsOf(seed: number): SimulateOptions {
  return storeOf(seed) === "memory" ? { openStore: openMemoryStore } : {};
}

async function oneRun(seed: number): Promise<void> {
  const report = await simulate(seed, optionsOf(seed));
  if (values.history) for (const line of report.history()) console.log(line);
  console.log(
    `seed ${seed} on the ${storeOf(seed)} store: ${report.violations.length} violations, history ${report.hash()}`,
  );
  if (report.violations.length > 0) await explain(seed);
}

async function explain(seed: number): Promise<void> {
  const { script } = await simulate(seed, optionsOf(seed));
  const shrunk = await shrink(script, optionsOf(seed));
  if (shrunk === undefined) return;
  const { violation, runs } = shrunk;
  console.log(
    `\n${violation.invariant}: ${violation.found}\nthe shortest script that ${runs} runs have found:`,
  );
  console.log(printScript(shrunk.script));
  process.exitCode = 1;
}

async function bugs(runs: number): Promise<void> {
  for (const bug of PLANTED_BUGS) {
    const options = planted(bug);
    let found = "NOT FOUND";
    for (let seed = 0; seed < runs && found === "NOT FOUND"; seed++) {
      const [violation] = (await simulate(seed, options)).violations;
      if (violation !== undefined) found = `seed ${seed}: ${violation.invariant}, ${violation.found}`;
    }
    if (found === "NOT FOUND") process.exitCode = 1;
    console.log(`${bug.name}\n    ${found}`);
  }
}

async function manyRuns(runs: number, from: number, processes: number): Promise<void> {
  const startedAt = performance.now();
  const file = await built();
  const shares = Array.from({ length: processes }, (_, index) => [
    from + index,
    Math.floor(runs / processes) + (index < runs % processes ? 1 : 0),
    processes,
  ]);
  const report = joined(await Promise.all(shares.map((share) => started(file, share))));
  const seconds = (performance.now() - startedAt) / 1000;
  for (const [what, times] of Object.entries(report.counts).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${what} ${times}`);
  console.log(`medians of a run: ${SIZES.map((size) => `${median(report.sizes[size])} ${size}`).join(", ")}`);
  console.log(
    `${report.runs} runs in ${seconds.toFixed(0)} s on ${processes} processes, ${Math.round(report.runs / seconds)} a second, ` +
      `${report.failures.length} failed`,
  );
  for (const { seed, violations } of report.failures) {
    console.log(`FAILED seed ${seed}: ${violations[0]?.invariant} ${violations[0]?.found}`);
  }
  const [first] = report.failures;
  if (first !== undefined) await explain(first.seed);
}

/** Built first: the loader that runs this script gives every function its name anew, which costs half of a run. */
async function built(): Promise<string> {
  const outfile = fileURLToPath(new URL("../.cache/simulate.mjs", import.meta.url));
  await build({
    entryPoints: [fileURLToPath(new URL("../test/simulator/campaign-process.ts", import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    tsconfig: fileURLToPath(new URL("../tsconfig.json", import.meta.url)),
    external: ["undici"],
    logLevel: "error",
  });
  return outfile;
}

function started(file: string, args: readonly number[]): Promise<CampaignReport> {
  return new Promise((resolve, reject) => {
    const child = fork(file, args.map(String), { execArgv: [] });
    child.once("message", (report) => resolve(report as CampaignReport));
    child.once("exit", (code) => reject(new Error(`A process of the campaign ended with ${code}.`)));
  });
}

await main();
