import { availableParallelism } from "node:os";
import { expect, it } from "vitest";
import { QuietSlices, stolenIn, whileQuiet } from "./quiet.js";

/** Measures once for each share, a second at a time, while the host takes that share of it; says which try counted. */
async function countedOf(
  shares: readonly number[],
): Promise<{ counted: number; taken: number; said: string[] }> {
  let [nowMs, stolen, taken] = [0, 0, 0];
  const said: string[] = [];
  const measure = (): Promise<number> => {
    nowMs += 1000;
    stolen += (shares[taken] ?? 0) * 1000 * availableParallelism();
    taken += 1;
    return Promise.resolve(taken);
  };
  const prepare = (): Promise<typeof measure> => {
    // What is taken meanwhile is nobody's loss.
    stolen += 1000;
    return Promise.resolve(measure);
  };
  const counted = await whileQuiet(prepare, {
    mostStolen: 0.01,
    tries: shares.length,
    say: (text) => said.push(text),
    stolenMs: () => stolen,
    nowMs: () => nowMs,
  });
  return { counted, taken, said };
}

it("takes what is measured while the machine is quiet, and measures no more", async () => {
  expect(await countedOf([0.005, 0])).toEqual({ counted: 1, taken: 1, said: [] });
});

it("measures again, and says so, while the host takes too much", async () => {
  const found = await countedOf([0.02, 0.3, 0.01, 0]);
  expect(found).toMatchObject({ counted: 3, taken: 3 });
  expect(found.said).toEqual([
    "the host took 2.0 % of the time: again",
    "the host took 30.0 % of the time: again",
  ]);
});

it("takes the quietest of all tries where none is quiet", async () => {
  const found = await countedOf([0.3, 0.02, 0.1]);
  expect(found).toMatchObject({ counted: 2, taken: 3 });
  expect(found.said.at(-1)).toBe("the host took 10.0 % of the time: the quietest try counts");
});

it("adds what was stolen from each core, and not the line of all of them", () => {
  const stat = "cpu  1 2 3 4 5 6 7 12 0 0\ncpu0 1 2 3 4 5 6 7 4 0 0\ncpu1 1 2 3 4 5 6 7 8 0 0\nintr 5\n";
  expect(stolenIn(stat)).toBe(120);
});

/** What is chosen of slices that come until there are enough. */
function chosenOf(shares: readonly number[]): { chosen: readonly number[]; seen: number; quiet: number } {
  const slices = new QuietSlices({ wanted: 2, atMost: 4, mostStolen: 0.01 });
  for (const share of shares) if (!slices.areEnough) slices.add(share);
  return { chosen: slices.chosen().toSorted((a, b) => a - b), seen: slices.seen, quiet: slices.quiet };
}

it("slices count while the machine is quiet, and no more of them are taken than are wanted", () => {
  expect(chosenOf([0, 0.01, 0])).toEqual({ chosen: [0, 1], seen: 2, quiet: 2 });
});

it("slices in which the host took too much do not count; others are taken in their place", () => {
  expect(chosenOf([0.5, 0, 0.02, 0.01, 0])).toEqual({ chosen: [1, 3], seen: 4, quiet: 2 });
});

it("where too few slices are quiet in the time that there is, the quietest count", () => {
  expect(chosenOf([0.5, 0.03, 0.2, 0.01])).toEqual({ chosen: [1, 3], seen: 4, quiet: 1 });
});
