import { checkRun } from "./laws/check-run.js";
import { ModelStore } from "./model/store.js";
import { hashOf, lineOf } from "./world/run-log.js";
import { Endless } from "./world/scheduler.js";
import { scriptOf } from "./script/script-of-seed.js";
import type { Script } from "./script/script.js";
import type { OpenStore } from "./world/simulated-store.js";
import type { RunViolation } from "./laws/violation.js";
import { World } from "./world/world.js";
import { performStep } from "./world/perform-step.js";
import type { Decisions } from "./world/world.js";

export interface SimulateOptions {
  /** The store whose calls are simulated. @default the model store */
  readonly openStore?: OpenStore;
  readonly decisions?: Decisions;
}

/** What came of a run. */
export interface RunReport<Played = Script> {
  readonly script: Played;
  readonly violations: readonly RunViolation[];
  /** What really happened, counted: calls, faults, contention. */
  readonly counts: ReadonlyMap<string, number>;
  /** How long it took, in its own time. */
  readonly virtualMs: number;
  /** The same for the same script, always. */
  hash(): string;
  /** The whole history, one line for each record. */
  history(): readonly string[];
}

/**
 * Runs senders, dispatchers, receivers and operators in a world with time, network, crashes and a database of its own,
 * made up from a seed, and judges what came of it. The same seed is the same run.
 *
 * @example
 * const { violations } = await simulate(7);
 */
export async function simulate(run: number | Script, options: SimulateOptions = {}): Promise<RunReport> {
  const script = typeof run === "number" ? scriptOf(run) : run;
  const { openStore = (parts) => new ModelStore(parts), decisions = {} } = options;
  const world = new World(script, { openStore, decisions });
  const violations = await violationsOf(world);
  const { log, scheduler } = world;
  log.count("nodes", world.nodes.length);
  log.count("faults", log.records.filter(({ kind }) => kind === "fault").length);
  return {
    script,
    violations,
    counts: log.counts,
    virtualMs: scheduler.now,
    hash: () => hashOf(log.records),
    history: () => log.records.map(lineOf),
  };
}

async function violationsOf(world: World): Promise<readonly RunViolation[]> {
  try {
    return await checkRun(world, await world.run(performStep));
  } catch (error) {
    if (!(error instanceof Endless)) throw error;
    return [{ invariant: "calm", found: error.message }];
  }
}
