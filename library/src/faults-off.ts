import type { FaultPoint } from "./fault-point.js";

// The `#faults` of every ordinary process: an empty function, which the engine inlines to nothing.

/** Does nothing. */
export function reach(_point: FaultPoint): void {}
