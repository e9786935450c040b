import { cancelledRange } from "../../../lanes/cancelled-range.js";
import type { LaneCancelled } from "../../../operator/dead-store.js";
import { idOf, laneOf } from "../lanes/lane-row.js";
import { writeChange } from "../lanes/record-ended.js";
import type { MemoryParts } from "../parts.js";

/** Cancels what waits in a lane, from its head to a sequence. */
export function cancelLane(parts: MemoryParts, laneId: bigint, through: bigint): LaneCancelled {
  const { clock, history, lanes } = parts;
  const row = lanes.find("lane", laneId);
  if (row === undefined) return { kind: "unknown" };
  const leaseHasEnded = (row.lease?.endsAt ?? 0) <= clock.monotonic();
  const range = cancelledRange(laneOf(row), { through, leaseHasEnded });
  if (range === "unknown") return { kind: range };
  if (range === "intended") {
    row.skipIntended = true;
    return { kind: range };
  }
  const at = new Date(clock.now());
  const count = Number(range.change.head - row.head);
  if (range.dead !== undefined) history.resolveDead(idOf(row, range.dead), at, "cancelled");
  for (let sequence = range.from; sequence <= range.through; sequence += 1n) {
    const delivery = row.deliveries.get(sequence);
    if (delivery !== undefined) history.addCancelled(row, delivery, { because: "cancelled", at });
  }
  writeChange(parts, row, range.change);
  return { kind: "cancelled", count };
}
