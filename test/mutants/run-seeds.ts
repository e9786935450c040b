// Looks for a planted bug, seed after seed: built by bundle.ts, started by scripts/mutants.ts, which reads its report.
import { runOf } from "../simulator/campaign.js";
import type { World } from "../simulator/campaign.js";

/** The first run that breaks a promise; undefined where none does. */
export type FoundAt =
  | { readonly seed: number; readonly invariant: string; readonly found: string }
  | undefined;

/** What is simulated, and how often. */
export interface SeedOrder {
  readonly world: World;
  readonly seeds: number;
}

async function foundAt({ world, seeds }: SeedOrder): Promise<FoundAt> {
  for (let seed = 0; seed < seeds; seed++) {
    const [violation] = (await runOf(seed, world)).violations;
    if (violation) return { seed, invariant: violation.invariant, found: violation.found };
  }
  return undefined;
}

// Nobody reads the stack of a fault that is injected thousands of times.
Error.stackTraceLimit = 0;
// What a planted bug leaves unhandled is not what it is judged by.
process.on("unhandledRejection", () => undefined);
const report = await foundAt(JSON.parse(process.argv[2] ?? "{}") as SeedOrder);
process.send?.(report ?? null, () => process.exit());
