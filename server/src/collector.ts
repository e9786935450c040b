import type { NodeGCPerformanceDetail, PerformanceEntry } from "node:perf_hooks";
import { constants, PerformanceObserver } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

// In percent of what was alive. More from the start would be memory that grows for ten minutes, though nobody needs it.
const LEAST_GROWTH = 20;
const MOST_GROWTH = 200;
const SELDOM_MS = 60_000;

/**
 * Tells V8 how a server's memory behaves. What it learns by watching is wrong for as long as somebody holds two thousand
 * connections open: they survive, and it makes what every request is made of where only a full collection finds it again.
 * There it also keeps alive whatever it points at. And as the heap is small, V8 lets it grow by a fifth and collects all
 * of it again: a hundred milliseconds each second, for everybody, where the server has one core. From what happens within
 * `youngMs` of the process' start nothing is learnt.
 */
export function tuneCollector(youngMs: number = SELDOM_MS): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
  withoutHelpers();
  collectSeldom(youngMs);
}

// Where there is one core, V8's helpers run in place of the server: four that mark leave it a fifth for 60 ms. In steps of
// its own, marking costs as much, and nobody waits; and a young generation of which little survives is collected in less
// time than it takes helpers to come.
function withoutHelpers(): void {
  // Helpers that mark just now would go on, and no longer be stopped while objects are moved: first they finish.
  collectAll();
  setFlagsFromString("--no-concurrent-marking");
  setFlagsFromString("--no-parallel-scavenge");
}

function collectAll(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  setFlagsFromString("--no-expose-gc");
}

// While the process is young, it collects what it was started with: after some seconds of load. Taken for haste, that let the
// heap grow to three times its size, and memory rose for ten minutes.
function collectSeldom(youngMs: number): void {
  let growth = LEAST_GROWTH;
  let lastMs = performance.now();
  setGrowth(growth);
  const observer = new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntries().filter(isFull)) {
      if (startTime >= youngMs) growth = growthAfter(growth, startTime - lastMs);
      lastMs = startTime;
      setGrowth(growth);
    }
  });
  observer.observe({ entryTypes: ["gc"] });
}

/**
 * What the heap may grow by before all of it is collected again, when it took so long to grow by this much. A full
 * collection takes a fifth of a second, in which everybody waits a little and some wait for 20 ms. V8 counts what share of
 * the time it takes, and finds one in ten seconds cheap; whoever looks at the slowest hundredth does not. The first that
 * come too soon let the heap grow further before the next.
 */
export function growthAfter(growth: number, tookMs: number): number {
  const wanted = Math.round((growth * SELDOM_MS) / tookMs);
  return Math.min(MOST_GROWTH, Math.max(LEAST_GROWTH, wanted));
}

function isFull(entry: PerformanceEntry): boolean {
  const { detail } = entry as PerformanceEntry & { readonly detail?: NodeGCPerformanceDetail };
  return detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}

function setGrowth(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
