import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { Batcher } from "./batcher.js";

/** Batches as they come, each under way until it is told to end. */
function watched(maxItems: number, maxBatches: number) {
  const batches: (readonly number[])[] = [];
  const ends: (() => void)[] = [];
  const batcher = new Batcher<number>({
    maxItems,
    maxBatches,
    run: (items) => {
      batches.push(items);
      return new Promise((resolve) => ends.push(resolve));
    },
  });
  return { batcher, batches, endNext: () => ends.shift()?.() };
}

it("what is asked at the same moment shares one batch", async () => {
  const { batcher, batches } = watched(10, 2);
  for (const item of [1, 2, 3]) batcher.add(item);
  await expect.poll(() => batches).toEqual([[1, 2, 3]]);
});

it("a batch has no more items than it may, and no more batches are under way than may be", async () => {
  const { batcher, batches, endNext } = watched(2, 2);
  for (const item of [1, 2, 3, 4, 5, 6]) batcher.add(item);
  for (let turns = 0; turns < 5; turns++) await turn();
  expect(batches).toEqual([
    [1, 2],
    [3, 4],
  ]);
  endNext();
  await expect.poll(() => batches).toHaveLength(3);
});

it("what comes while all batches are under way waits, and goes with the next", async () => {
  const { batcher, batches, endNext } = watched(10, 1);
  batcher.add(1);
  await turn();
  batcher.add(2);
  await turn();
  batcher.add(3);
  await turn();
  expect(batches).toEqual([[1]]);
  endNext();
  await expect.poll(() => batches).toEqual([[1], [2, 3]]);
});

it("a batch gathers until the turn that its owner gives it", () => {
  const turns: (() => void)[] = [];
  const batches: (readonly number[])[] = [];
  const run = (items: readonly number[]): Promise<void> => {
    batches.push(items);
    return Promise.resolve();
  };
  const batcher = new Batcher<number>({ maxItems: 10, maxBatches: 1, run, soon: (work) => turns.push(work) });
  for (const item of [1, 2]) batcher.add(item);
  expect([turns.length, batches]).toEqual([1, []]);
  turns[0]?.();
  expect(batches).toEqual([[1, 2]]);
});
