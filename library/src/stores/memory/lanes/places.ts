import type { Place } from "../../../outbox/fan-out.js";
import type { StoredEvent } from "../outbox/event-log.js";
import type { MemoryParts } from "../parts.js";
import { laneOf } from "./lane-row.js";

/** Puts an event at the end of its lane, or beside all lanes where it has no key. */
export function placeEvent(
  { clock, lanes, places, rule }: MemoryParts,
  event: StoredEvent,
  { consumerId, lane: name, round }: Place & { readonly round: number },
): void {
  // A new lane begins at its first event's number: the lane of an endpoint that was removed and added again goes on
  // above what its receivers have seen.
  const lane = name === undefined ? lanes.addLoose(consumerId) : lanes.laneOf(consumerId, name, event.rowId);
  places.add({ lane, sequence: lane.end, event });
  lanes.append(lane, { event, round }, rule.arms(laneOf(lane)) ? clock.monotonic() : undefined);
}
