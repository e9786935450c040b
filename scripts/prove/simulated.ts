// Simulated runs in processes of their own, one for each core.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { printScript } from "../../simulator/script/script.js";
import { shrink } from "../../simulator/script/shrink.js";
import { simulate } from "../../simulator/simulate.js";
import { storedScriptOf } from "../../simulator/stored/script-of-seed.js";
import { printStoredScript } from "../../simulator/stored/script.js";
import { shrinkStored } from "../../simulator/stored/shrink.js";
import type { SimulateOptions } from "../../simulator/simulate.js";
import { joined, storeOf } from "../../test/simulator/campaign.js";
import type { CampaignReport, World } from "../../test/simulator/campaign.js";
import type { Said } from "../../test/simulator/campaign-process.js";
import { openStoredMemory } from "../../test/simulator/journaled-memory.js";
import { openMemoryStore } from "../../test/simulator/memory-engine.js";

const source = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export interface CampaignWish {
  /** @default "delivery" */
  readonly world?: World;
  readonly runs: number;
  readonly from: number;
  readonly processes: number;
  readonly onProgress?: (done: number) => void;
}

/** Runs a campaign, shared by processes; `cpuMs` is the time that they computed. */
export async function runCampaign(wish: CampaignWish): Promise<{ report: CampaignReport; cpuMs: number }> {
  const { world = "delivery", runs, from, processes, onProgress } = wish;
  const file = await built();
  const reports: CampaignReport[] = [];
  const done = new Map<number, number>();
  let cpuMs = 0;
  const shares = Array.from({ length: processes }, (_, index) => {
    const share = Math.floor(runs / processes) + (index < runs % processes ? 1 : 0);
    return started(file, [world, from + index, share, processes], (said) => {
      if (said.kind === "progress") {
        done.set(index, said.done);
        onProgress?.([...done.values()].reduce((sum, each) => sum + each, 0));
      }
      if (said.kind !== "report") return;
      reports.push(said.report);
      cpuMs += said.cpuMs;
    });
  });
  await Promise.all(shares);
  return { report: joined(reports), cpuMs };
}

export type FoundBug = Extract<Said, { kind: "bug" }>;

/** Looks for every planted bug, from seed 0 on, and tells of each as it is found or not. */
export async function findBugs(
  { seeds, processes }: { readonly seeds: number; readonly processes: number },
  onBug: (bug: FoundBug) => void,
): Promise<void> {
  const file = await built();
  const hear = (said: Said): void => {
    if (said.kind === "bug") onBug(said);
  };
  await Promise.all(
    Array.from({ length: processes }, (_, index) => started(file, ["bugs", index, seeds, processes], hear)),
  );
}

/** How the run of a seed is made. */
export function optionsOf(seed: number): SimulateOptions {
  return storeOf(seed) === "memory" ? { openStore: openMemoryStore } : {};
}

/** The shortest script that fails as the run of this seed does. */
export async function explanationOf(seed: number, world: World): Promise<string> {
  const found = world === "workers" ? await shrunkWorkers(seed) : await shrunkDelivery(seed);
  if (found === undefined) return `seed ${seed} does not fail in this process`;
  const { violation, runs, printed } = found;
  return [
    `${violation.invariant}: ${violation.found}`,
    `the shortest script that ${runs} runs have found:`,
    printed,
  ].join("\n");
}

async function shrunkDelivery(seed: number) {
  const { script } = await simulate(seed, optionsOf(seed));
  const shrunk = await shrink(script, optionsOf(seed));
  return shrunk && { ...shrunk, printed: printScript(shrunk.script) };
}

async function shrunkWorkers(seed: number) {
  const shrunk = await shrinkStored(storedScriptOf(seed), { openStore: openStoredMemory });
  return shrunk && { ...shrunk, printed: printStoredScript(shrunk.script) };
}

/** Built first: the loader that runs this script gives every function its name anew, which costs half of a run. */
async function built(): Promise<string> {
  const outfile = source(".cache/simulate.mjs");
  await build({
    entryPoints: [source("test/simulator/campaign-process.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: `node${process.versions.node}`,
    tsconfig: source("tsconfig.json"),
    external: ["undici"],
    logLevel: "error",
  });
  return outfile;
}

/** Resolves when the process has said that it is at its end. */
function started(
  file: string,
  args: readonly (string | number)[],
  hear: (said: Said) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = fork(file, args.map(String), { execArgv: [] });
    const kill = (): void => void child.kill("SIGKILL");
    process.once("exit", kill);
    child.on("message", (message) => {
      const said = message as Said;
      if (said.kind === "end") resolve();
      else hear(said);
    });
    // Not at its exit: what it said last may still be on its way.
    child.once("disconnect", () => {
      process.off("exit", kill);
      reject(new Error("A process of the campaign ended before it had said so."));
    });
  });
}
