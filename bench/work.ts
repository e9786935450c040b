import type { Turn } from "./figures.js";
import { Histogram } from "./histogram.js";
import type { WorkCase } from "./suite.js";

/** Does the work once. */
export async function timeWork(work: WorkCase): Promise<Turn> {
  const latencies = new Histogram();
  const startedAt = performance.now();
  const done = await work.run((ms, count) => latencies.record(ms, count));
  const { operations, elapsedMs } =
    typeof done === "number" ? { operations: done, elapsedMs: performance.now() - startedAt } : done;
  // Work that did nothing is over at once, and would be the fastest of all.
  if (!(operations > 0)) throw new Error(`${work.name} did ${operations} operations; expected at least one.`);
  if (latencies.total === 0) latencies.record(elapsedMs);
  return { operations, elapsedMs, latencies };
}

/** Does the work at least once, each time from its beginning, until `warmupMs` have passed. */
export async function warmWork(work: WorkCase, warmupMs: number): Promise<void> {
  let workedMs = 0;
  do {
    await work.beforeTurn?.();
    const { elapsedMs } = await timeWork(work);
    await work.afterTurn?.();
    workedMs += elapsedMs;
  } while (workedMs < warmupMs);
}
