import type { Skipped } from "../../../operator/operator-store.js";
import { idOf, laneOf } from "../lanes/lane-row.js";
import { writeChange } from "../lanes/record-ended.js";
import type { MemoryParts } from "../parts.js";

/** Passes over a lane's head, where it is the one that is named. */
export function skip(parts: MemoryParts, laneId: bigint, head: bigint): Skipped {
  const { clock, lanes, rule } = parts;
  const row = lanes.find("lane", laneId);
  if (row === undefined) return "unknown";
  const leaseHasEnded = (row.lease?.endsAt ?? 0) <= clock.monotonic();
  const change = rule.skipped(laneOf(row), { head, leaseHasEnded });
  if (change === "unknown") return change;
  if (change === "intended") {
    row.skipIntended = true;
    return change;
  }
  // A person has decided about the dead letter: it is listed no more. A redrive still finds it.
  if (row.state !== "flowing") parts.history.resolveDead(idOf(row, head), new Date(clock.now()), "skipped");
  writeChange(parts, row, change);
  return "skipped";
}
