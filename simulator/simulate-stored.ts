import { checkStoredRun } from "./laws/stored/check-stored-run.js";
import type { RunViolation } from "./laws/violation.js";
import type { RunReport } from "./simulate.js";
import { performStoredStep } from "./stored/perform-step.js";
import { storedScriptOf } from "./stored/script-of-seed.js";
import type { StoredScript } from "./stored/script.js";
import type { OpenStoredStore } from "./stored/stored-store.js";
import { StoredWorld } from "./stored/world.js";
import type { StoredDecisions } from "./stored/world.js";
import { hashOf, lineOf } from "./world/run-log.js";
import { Endless } from "./world/scheduler.js";

export interface SimulateStoredOptions {
  /** The store whose calls are simulated. */
  readonly openStore: OpenStoredStore;
  readonly decisions?: StoredDecisions;
}

/**
 * Sends a stream that is reordered, doubled and gapped to receivers that store first, lets workers handle it in a world with
 * time, network, crashes and a database of its own, and judges what came of it. The same seed is the same run.
 *
 * @example
 * const { violations } = await simulateStored(7, { openStore });
 */
export async function simulateStored(
  run: number | StoredScript,
  { openStore, decisions = {} }: SimulateStoredOptions,
): Promise<RunReport<StoredScript>> {
  const script = typeof run === "number" ? storedScriptOf(run) : run;
  const world = new StoredWorld(script, { openStore, decisions });
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

async function violationsOf(world: StoredWorld): Promise<readonly RunViolation[]> {
  try {
    return checkStoredRun(world, await world.run(performStoredStep));
  } catch (error) {
    if (!(error instanceof Endless)) throw error;
    return [{ invariant: "calm", found: error.message }];
  }
}
