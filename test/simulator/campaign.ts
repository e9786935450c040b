import { simulate } from "../../simulator/simulate.js";
import type { RunReport } from "../../simulator/simulate.js";
import { simulateStored } from "../../simulator/simulate-stored.js";
import type { RunViolation } from "../../simulator/laws/violation.js";
import { openStoredMemory } from "./journaled-memory.js";
import { openMemoryStore } from "./memory-engine.js";

/** What came of many runs. */
export interface CampaignReport {
  readonly runs: number;
  /** How often everything that is counted happened, in all runs together. */
  readonly counts: Readonly<Record<string, number>>;
  /** Of each run, for medians. */
  readonly sizes: Readonly<Record<Size, readonly number[]>>;
  readonly failures: readonly Failure[];
}

export interface Failure {
  readonly seed: number;
  readonly violations: readonly RunViolation[];
}

export const SIZES = ["nodes", "events", "calls", "faults", "posts"] as const;
export type Size = (typeof SIZES)[number];

/** What is simulated: events that are published and delivered, or those that are stored first and handled by workers. */
export type World = "delivery" | "workers";

export interface CampaignOptions {
  /** @default "delivery" */
  readonly world?: World;
  readonly from: number;
  readonly runs: number;
  /** Every so manieth seed, as many processes share a campaign. @default 1 */
  readonly stride?: number;
  readonly onProgress?: (done: number) => void;
  /** After so many runs each. @default 1000 */
  readonly every?: number;
}

// More of them are understood no better.
const MOST_FAILURES = 10;

/** One run in ten has the shipped memory store for its database: its fences are judged as the model's are. */
export function storeOf(seed: number): "memory" | "model" {
  return seed % 10 === 9 ? "memory" : "model";
}

/** One run of a seed. */
export function runOf(seed: number, world: World): Promise<Omit<RunReport, "script">> {
  if (world === "workers") return simulateStored(seed, { openStore: openStoredMemory });
  return simulate(seed, storeOf(seed) === "memory" ? { openStore: openMemoryStore } : {});
}

/** Runs seed after seed, and stops when enough of them have failed. */
export async function campaign({
  world = "delivery",
  from,
  runs,
  stride = 1,
  onProgress,
  every = 1000,
}: CampaignOptions): Promise<CampaignReport> {
  const counts: Record<string, number> = {};
  const sizes: Record<Size, number[]> = { nodes: [], events: [], calls: [], faults: [], posts: [] };
  const failures: Failure[] = [];
  let done = 0;
  for (; done < runs && failures.length < MOST_FAILURES; done++) {
    const seed = from + done * stride;
    const report = await runOf(seed, world);
    for (const [what, times] of report.counts) counts[what] = (counts[what] ?? 0) + times;
    for (const size of SIZES) sizes[size].push(report.counts.get(size) ?? 0);
    if (report.violations.length > 0) failures.push({ seed, violations: report.violations });
    if ((done + 1) % every === 0) onProgress?.(done + 1);
  }
  return { runs: done, counts, sizes, failures };
}

/** The middle one. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Puts together what several processes have found. */
export function joined(reports: readonly CampaignReport[]): CampaignReport {
  const counts: Record<string, number> = {};
  for (const report of reports) {
    for (const [what, times] of Object.entries(report.counts)) counts[what] = (counts[what] ?? 0) + times;
  }
  const sizes = Object.fromEntries(
    SIZES.map((size) => [size, reports.flatMap((report) => report.sizes[size])]),
  ) as Record<Size, number[]>;
  return {
    runs: reports.reduce((sum, { runs }) => sum + runs, 0),
    counts,
    sizes,
    failures: reports.flatMap(({ failures }) => failures),
  };
}
