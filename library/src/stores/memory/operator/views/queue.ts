import type { QueuedDelivery, QueuePart } from "../../../../operator/view-store.js";
import { idOf } from "../../lanes/lane-row.js";
import type { LaneRow } from "../../lanes/lane-row.js";
import type { StoredEvent } from "../../outbox/event-log.js";
import type { MemoryParts } from "../../parts.js";

/** One end of a lane. */
export function queue(
  parts: MemoryParts,
  laneId: bigint,
  { part, limit }: { readonly part: QueuePart; readonly limit: number },
): readonly QueuedDelivery[] {
  const lane = parts.lanes.find("lane", laneId);
  if (lane === undefined || limit <= 0) return [];
  if (part === "finished") return finished(parts, lane, limit);
  const waiting = [...lane.deliveries.values()].toSorted((one, other) =>
    one.sequence < other.sequence ? -1 : 1,
  );
  const wanted = part === "first" ? waiting.slice(0, limit) : waiting.slice(-limit);
  return wanted.map(({ sequence, event }) => queuedOf(sequence, event));
}

function finished({ places }: MemoryParts, lane: LaneRow, limit: number): readonly QueuedDelivery[] {
  const found: QueuedDelivery[] = [];
  for (let sequence = lane.head - 1n; found.length < limit; sequence -= 1n) {
    const place = places.ofDelivery(idOf(lane, sequence));
    if (place === undefined) break;
    found.unshift(queuedOf(sequence, place.event));
  }
  return found;
}

function queuedOf(sequence: bigint, { id, type, time, writtenAt }: StoredEvent): QueuedDelivery {
  return { sequence, eventId: id, type, time: new Date(time), writtenAt: new Date(writtenAt) };
}
