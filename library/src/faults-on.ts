import type { FaultPoint } from "./fault-point.js";

// The `#faults` of a process started with `--conditions posthorn-faults`, which only the crash tests do.

const HOOK = Symbol.for("posthorn.faults");

/** Tells the crash test that the process has come to this point; the test may end it there. */
export function reach(point: FaultPoint): void {
  (globalThis as { [HOOK]?: (point: FaultPoint) => void })[HOOK]?.(point);
}
