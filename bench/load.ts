import type { Turn } from "./figures.js";
import { Histogram } from "./histogram.js";
import type { LoadCase } from "./suite.js";

/** Lets every caller call, one call at a time, until `turnMs` have passed; waits for the calls still under way and counts them. */
export async function timeLoad(load: LoadCase, turnMs: number): Promise<Turn> {
  const latencies = new Histogram();
  const startedAt = performance.now();
  let endsAt = startedAt + turnMs;
  const callAgain = async (caller: number): Promise<void> => {
    let calledAt = performance.now();
    do {
      await load.call(caller);
      const answeredAt = performance.now();
      latencies.record(answeredAt - calledAt);
      calledAt = answeredAt;
    } while (calledAt < endsAt);
  };
  const callers = Array.from({ length: load.callers }, async (_, caller) => {
    try {
      await callAgain(caller);
    } catch (error) {
      // The others would call on into the teardown, and their errors would hide this one.
      endsAt = 0;
      throw error;
    }
  });
  const endings = await Promise.allSettled(callers);
  const failed = endings.find((ending) => ending.status === "rejected");
  if (failed) throw failed.reason;
  const operations = latencies.total * (load.operationsPerCall ?? 1);
  return { operations, elapsedMs: performance.now() - startedAt, latencies };
}
