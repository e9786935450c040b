import type { Turn } from "./figures.js";
import { Histogram } from "./histogram.js";

/** Under this a sample is mostly the noise of reading the clock. */
const MIN_SAMPLE_MS = 0.5;
const MAX_BATCH = 1 << 22;

/** Results escape into this ring: a result that nobody can see lets the compiler drop the work behind it. */
const escaped: unknown[] = Array.from({ length: 16 });

/** Finds how many operations one sample needs; call it on a warm operation, a cold one needs too few. */
export function calibrate(run: () => unknown): number {
  let batch = 1;
  while (batch < MAX_BATCH && timeBatch(run, batch) < MIN_SAMPLE_MS) batch *= 2;
  return batch;
}

/** Runs batches for `turnMs`; each records its mean as one latency. */
export function timeLoop(run: () => unknown, batch: number, turnMs: number): Turn {
  const latencies = new Histogram();
  const startedAt = performance.now();
  let elapsedMs = 0;
  let operations = 0;
  while (elapsedMs < turnMs) {
    latencies.record(timeBatch(run, batch) / batch);
    operations += batch;
    elapsedMs = performance.now() - startedAt;
  }
  return { operations, elapsedMs, latencies };
}

function timeBatch(run: () => unknown, batch: number): number {
  const startedAt = performance.now();
  for (let done = 0; done < batch; done += 1) escaped[done & 15] = run();
  return performance.now() - startedAt;
}
