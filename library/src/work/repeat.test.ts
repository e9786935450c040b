import { expect, it } from "vitest";
import { repeat } from "./repeat.js";

/** Runs `repeat` over these results of its work, and tells the sleeps and failures in their order. */
async function run(results: readonly (boolean | Error)[]): Promise<string[]> {
  const told: string[] = [];
  const stop = new AbortController();
  const left = [...results];
  await repeat({
    everyMs: 1000,
    clock: { sleep: (ms) => Promise.resolve(void told.push(`sleep ${ms}`)) },
    signal: stop.signal,
    work: () => {
      const result = left.shift() ?? false;
      if (left.length === 0) stop.abort();
      return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
    },
    failed: (error) => void told.push(String(error)),
  });
  return told;
}

it("work is done at its interval, and at once where there is more to do", async () => {
  expect(await run([true, true, false])).toEqual(["sleep 0", "sleep 0", "sleep 1000"]);
});

it("work that fails is reported, and done again at its time", async () => {
  expect(await run([new Error("away"), false])).toEqual(["Error: away", "sleep 1000", "sleep 1000"]);
});

it("nothing is done after the signal has aborted", async () => {
  const done: string[] = [];
  await repeat({
    everyMs: 1,
    clock: { sleep: () => Promise.resolve(void done.push("sleep")) },
    signal: AbortSignal.abort(),
    work: () => Promise.resolve(void done.push("work")),
    failed: () => void done.push("failed"),
  });
  expect(done).toEqual([]);
});
