// Fails every call to the stores of a run, one after the other, until a promise is broken: built by bundle.ts, started
// by scripts/mutants.ts, which reads its report.
import { NotAtRest } from "../nth-call/insistence.js";
import type { FailingRun } from "../nth-call/every-call.js";
import type { Failure } from "../nth-call/store-calls.js";
import { canHang, WAYS } from "../nth-call/store-calls.js";
import { memoryGround } from "../nth-call/stored/memory.js";
import { sqliteGround } from "../nth-call/stored/sqlite.js";
import { StoredWorld } from "../nth-call/stored/world.js";
import { World } from "../nth-call/world.js";
import type { ScenarioName } from "./nth-calls.js";

/** The first failing call that breaks a promise; undefined where none does. */
export type BrokenBy = { readonly nth: number; readonly way: string; readonly found: string } | undefined;

const WORLDS: Readonly<Record<ScenarioName, (failure: Failure) => FailingRun>> = {
  endpoints: (failure) => new World(failure),
  "workers on sqlite": (failure) => new StoredWorld(sqliteGround, failure),
  "workers on memory": (failure) => new StoredWorld(memoryGround, failure),
};

async function brokenBy(worldOf: (failure: Failure) => FailingRun): Promise<BrokenBy> {
  const whole = worldOf({ nth: 0, way: "reject" });
  await whole.run();
  for (const way of WAYS.toReversed()) {
    for (const [index, call] of whole.calls.made.entries()) {
      if (way === "hang" && !canHang(call)) continue;
      const found = await harmOf(worldOf({ nth: index + 1, way }));
      if (found !== undefined) return { nth: index + 1, way: `${way} of ${call}`, found };
    }
  }
  return undefined;
}

async function harmOf(world: FailingRun): Promise<string | undefined> {
  try {
    const { violations } = await world.run();
    const [violation] = violations;
    return violation ? `${violation.invariant}, ${violation.found}` : world.harm;
  } catch (error) {
    // Whatever else is thrown may come of a mistake in the edit.
    if (error instanceof NotAtRest) return `I18, ${error.message}`;
    throw error;
  }
}

const report = await brokenBy(WORLDS[process.argv[2] as ScenarioName]);
process.send?.(report ?? null, () => process.exit());
