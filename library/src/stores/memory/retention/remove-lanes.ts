import { isEmpty } from "../lanes/lane-row.js";
import type { LaneRow } from "../lanes/lane-row.js";
import type { MemoryParts } from "../parts.js";

/** Removes those of these lanes in which nothing waits and of which nothing is told any more. */
export function removeEmptyLanes({ lanes, places }: MemoryParts, given: ReadonlySet<LaneRow>): number {
  let removed = 0;
  for (const lane of given) {
    if (lane.kind === "loose" || !lanes.has(lane) || !isEmpty(lane) || places.isAnyIn(lane)) continue;
    lanes.removeEmpty(lane);
    removed += 1;
  }
  return removed;
}
