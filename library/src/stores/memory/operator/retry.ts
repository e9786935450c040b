import { parseDeliveryId } from "../../../lanes/delivery-id.js";
import type { RetryTarget } from "../../../operator/operator-store.js";
import { laneOf } from "../lanes/lane-row.js";
import type { LaneRow } from "../lanes/lane-row.js";
import { writeChange } from "../lanes/record-ended.js";
import type { MemoryParts } from "../parts.js";

/** Makes due what waits for the time of its next attempt. */
export function retry(parts: MemoryParts, target: RetryTarget): number {
  let count = 0;
  for (const row of rowsOf(parts, target)) {
    if (row.readyAt === undefined || row.readyAt <= parts.clock.monotonic()) continue;
    const change = parts.rule.retried(laneOf(row));
    if (change === undefined) continue;
    writeChange(parts, row, change);
    count += 1;
  }
  return count;
}

function rowsOf({ lanes }: MemoryParts, target: RetryTarget): readonly LaneRow[] {
  if ("endpointId" in target) {
    return lanes.waiting().filter(({ endpointId }) => endpointId === target.endpointId);
  }
  if ("laneId" in target) return present(lanes.find("lane", target.laneId));
  const place = parseDeliveryId(target.deliveryId);
  if (place === undefined) return [];
  if (place.kind === "loose") return present(lanes.find("loose", place.id));
  return present(lanes.find("lane", place.lane)).filter(({ head }) => head === place.sequence);
}

function present(row: LaneRow | undefined): readonly LaneRow[] {
  return row === undefined ? [] : [row];
}
