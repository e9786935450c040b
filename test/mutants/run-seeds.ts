// Looks for a planted bug, seed after seed: built by bundle.ts, started by scripts/mutants.ts, which reads its report.
import { simulate } from "../../simulator/simulate.js";
import { storeOf } from "../simulator/campaign.js";
import { openMemoryStore } from "../simulator/memory-engine.js";

/** The first run that breaks a promise; undefined where none does. */
export type FoundAt =
  | { readonly seed: number; readonly invariant: string; readonly found: string }
  | undefined;

async function foundAt(seeds: number): Promise<FoundAt> {
  for (let seed = 0; seed < seeds; seed++) {
    const { violations } = await simulate(
      seed,
      storeOf(seed) === "memory" ? { openStore: openMemoryStore } : {},
    );
    const [violation] = violations;
    if (violation) return { seed, invariant: violation.invariant, found: violation.found };
  }
  return undefined;
}

// Nobody reads the stack of a fault that is injected thousands of times.
Error.stackTraceLimit = 0;
// What a planted bug leaves unhandled is not what it is judged by.
process.on("unhandledRejection", () => undefined);
const report = await foundAt(Number(process.argv[2]));
process.send?.(report ?? null, () => process.exit());
