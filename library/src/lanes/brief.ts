import type { Lane } from "./lane.js";

/** The most deliveries that a brief lane holds: one run ends it. The indexes of brief lanes have this number in them. */
export const BRIEF = 8;

/** Whether a lane holds so little that it must not wait behind the backlogs of others. */
export function isBrief({ head, end }: Pick<Lane, "head" | "end">): boolean {
  return end - head <= BigInt(BRIEF);
}
