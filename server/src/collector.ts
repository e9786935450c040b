import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Tells V8 how a server's memory behaves. What it learns by watching is wrong for as long as somebody holds two thousand
 * connections open: they survive, and it makes what every request is made of where only a full collection finds it again.
 * There it also keeps alive whatever it points at. And as the heap is small, V8 lets it grow by a fifth and collects all
 * of it again: a hundred milliseconds each second, for everybody, where the server has one core.
 */
export function tuneCollector(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
  // To half as much again as was alive. With three times as much, memory was seen to grow for ten minutes.
  setFlagsFromString("--heap-growing-percent=50");
  withoutHelpers();
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
