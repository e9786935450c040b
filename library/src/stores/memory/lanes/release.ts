import type { Claim } from "../../../lanes/lane-store.js";
import type { MemoryParts } from "../parts.js";
import { laneOf } from "./lane-row.js";
import { writeChange } from "./record-ended.js";

/** Gives back what this worker has leased and does not hold; says how many. */
export function release(
  parts: MemoryParts,
  worker: string,
  held: readonly Pick<Claim, "kind" | "id">[],
): number {
  const isHeld = ({ kind, id }: Pick<Claim, "kind" | "id">): boolean =>
    held.some((each) => each.kind === kind && each.id === id);
  const lost = parts.lanes.waiting().filter((row) => row.lease?.worker === worker && !isHeld(row));
  for (const row of lost) writeChange(parts, row, parts.rule.released(laneOf(row)));
  return lost.length;
}
