import { controlOf } from "./all.js";
import { builtWith } from "./bundle.js";
import { reportOf } from "./child.js";
import type { Databases } from "./databases.js";
import { CASE_PATIENCE_MS, isRightFailure } from "./mutant.js";
import type { DatabaseName, Planted, StoreMutant } from "./mutant.js";
import type { CaseName, Order, Ran } from "./run-cases.js";
import type { NthCallMutant } from "./nth-calls.js";
import type { BrokenBy } from "./run-nth-calls.js";
import type { World } from "../simulator/campaign.js";
import type { FoundAt, SeedOrder } from "./run-seeds.js";

/** What became of one planted bug, or of a run without one. */
export interface Judgement {
  readonly passed: boolean;
  /** One line for people. */
  readonly told: string;
}

/** Within so many seeds the simulator finds a bug. */
export const SEEDS = 2000;

/** From the start of a process to its first case, on a machine that is busy. */
const START_MS = 60_000;

/** Runs the case that must go red with the bug in the store, and one that must stay green. */
export async function judgeStore(mutant: StoreMutant, databases: Databases | undefined): Promise<Judgement> {
  const { suite, case: wanted } = mutant.caughtBy;
  const control = controlOf(mutant);
  const file = await builtWith("run-cases", mutant);
  // The green one first: a case that a bug keeps from its end leaves statements running, which the next one meets as deadlocks.
  const [untouched, caught] = await ranCases(file, mutant.database, [control, mutant.caughtBy], databases);
  const failure = caught?.failure;
  if (failure === undefined) return { passed: false, told: `NOT CAUGHT by ${suite}: ${wanted}` };
  if (untouched?.failure !== undefined)
    return { passed: false, told: `breaks everything, also "${control.case}": ${untouched.failure.told}` };
  const told = firstLine(failure.told);
  if (!isRightFailure(mutant, failure))
    return {
      passed: false,
      told: `CAUGHT FOR ANOTHER REASON by ${suite}: ${wanted} (${failure.how}: ${told})`,
    };
  return { passed: true, told: `${suite}: ${wanted} (${told})` };
}

/** Runs every case that is to find a bug, without one: a case that is always red finds nothing. */
export async function judgeWithoutBugs(
  database: DatabaseName,
  mutants: readonly StoreMutant[],
  databases: Databases | undefined,
): Promise<Judgement> {
  const wanted = new Map<string, CaseName>();
  for (const mutant of mutants) {
    for (const each of [mutant.caughtBy, controlOf(mutant)]) wanted.set(`${each.suite} ${each.case}`, each);
  }
  const file = await builtWith("run-cases", undefined);
  const cases = [...wanted.values()];
  const ran = await ranCases(file, database, cases, databases);
  const red = ran.filter(({ failure }) => failure !== undefined);
  if (red.length === 0) return { passed: true, told: `${ran.length} cases are green without a bug` };
  return {
    passed: false,
    told: red.map(({ case: name, failure }) => `RED WITHOUT A BUG: ${name}: ${failure?.told}`).join("\n"),
  };
}

/** Looks for a bug of a decision by simulated runs. */
export async function judgeDecision(planted: Planted, world: World): Promise<Judgement> {
  const file = await builtWith("run-seeds", planted);
  const order: SeedOrder = { world, seeds: SEEDS };
  const found = await reportOf<FoundAt | null>(file, JSON.stringify(order));
  if (!found) return { passed: false, told: `NOT FOUND within ${SEEDS} seeds` };
  return { passed: true, told: `seed ${found.seed}: ${found.invariant}, ${found.found}` };
}

/** Looks for a bug by failing every call to the stores. */
export async function judgeNthCall(planted: NthCallMutant): Promise<Judgement> {
  const file = await builtWith("run-nth-calls", planted);
  const found = await reportOf<BrokenBy | null>(file, planted.scenario);
  if (!found) return { passed: false, told: "NOT FOUND, whatever call fails" };
  return { passed: true, told: `call ${found.nth}, ${found.way}: ${found.found}` };
}

async function ranCases(
  file: string,
  database: DatabaseName,
  cases: readonly CaseName[],
  databases: Databases | undefined,
): Promise<readonly Ran[]> {
  const run = (url: string): Promise<readonly Ran[]> =>
    reportOf(
      file,
      JSON.stringify({ database, url, cases } satisfies Order),
      START_MS + cases.length * CASE_PATIENCE_MS,
    );
  return database === "sqlite" || databases === undefined ? run("") : databases.with(run);
}

function firstLine(error: string): string {
  const [line = ""] = error.split("\n");
  return line.length > 140 ? `${line.slice(0, 140)}…` : line;
}
