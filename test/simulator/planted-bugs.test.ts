import { printScript } from "../../simulator/script/script.js";
import { shrink } from "../../simulator/script/shrink.js";
import { simulate } from "../../simulator/simulate.js";
import { describe, expect, it } from "vitest";
import { planted, PLANTED_BUGS } from "./planted-bugs.js";
import { searched } from "./searched.js";

// The most that any of them may take, by the promise that the simulator makes of itself.
const SEEDS = 2000;

describe("the simulator finds", () => {
  it.each(PLANTED_BUGS)("$name", { timeout: 120_000 }, async (bug) => {
    const options = planted(bug);
    const finds = async (seed: number): Promise<boolean> =>
      (await simulate(seed, options)).violations.length > 0;
    expect(await searched(bug.name, { from: bug.foundAt, most: SEEDS, finds })).toBeDefined();
  });
});

it("a failing run shrinks to a short script that fails in the same way", async () => {
  const bug = PLANTED_BUGS.find(({ name }) => name.startsWith("no fence"));
  if (bug === undefined) throw new Error("The bug is gone.");
  let seed = bug.foundAt;
  while ((await simulate(seed, planted(bug))).violations.length === 0) seed++;
  const before = (await simulate(seed, planted(bug))).script;
  const shrunk = await shrink(before, planted(bug));
  expect(shrunk?.violation.invariant).toBe("I9");
  expect(shrunk?.script.steps.length).toBeLessThan(before.steps.length / 3);
  const again = await simulate(shrunk?.script ?? before, planted(bug));
  expect(again.violations[0]?.invariant).toBe("I9");
  expect(printScript(again.script)).toContain(`seed ${seed}`);
});
