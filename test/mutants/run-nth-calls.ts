// Fails every call to the stores of a run, one after the other, until a promise is broken: built by bundle.ts, started
// by scripts/mutants.ts, which reads its report.
import { canHang, WAYS } from "../nth-call/store-calls.js";
import { World } from "../nth-call/world.js";

/** The first failing call that breaks a promise; undefined where none does. */
export type BrokenBy = { readonly nth: number; readonly way: string; readonly found: string } | undefined;

async function brokenBy(): Promise<BrokenBy> {
  const whole = new World({ nth: 0, way: "reject" });
  await whole.run();
  for (const way of WAYS.toReversed()) {
    for (const [index, call] of whole.calls.made.entries()) {
      if (way === "hang" && !canHang(call)) continue;
      const { violations } = await new World({ nth: index + 1, way }).run();
      const [violation] = violations;
      if (violation)
        return {
          nth: index + 1,
          way: `${way} of ${call}`,
          found: `${violation.invariant}, ${violation.found}`,
        };
    }
  }
  return undefined;
}

const report = await brokenBy();
process.send?.(report ?? null, () => process.exit());
