import type { Redriven } from "../../../operator/operator-store.js";
import { placeIn } from "../../../outbox/fan-out.js";
import { laneOf } from "../lanes/lane-row.js";
import { placeEvent } from "../lanes/places.js";
import { writeChange } from "../lanes/record-ended.js";
import type { MemoryParts } from "../parts.js";

/** Makes a dead delivery due again: in its place where it is still the head, else at the end of its event's lane. */
export function redrive(parts: MemoryParts, deliveryId: string): Redriven {
  const { endpoints, history, rule } = parts;
  const dead = history.dead(deliveryId);
  const endpoint = dead && endpoints.get(dead.lane.endpointId);
  if (dead === undefined || endpoint === undefined) return "unknown";
  history.removeDead(deliveryId);
  const { lane, delivery } = dead;
  const change = rule.redriven(laneOf(lane), delivery.sequence);
  if (change !== undefined) {
    writeChange(parts, lane, change);
    return lane.kind === "lane" ? "in_place" : "at_end";
  }
  const { event, round } = delivery;
  placeEvent(parts, event, { ...placeIn(endpoint, event.key), round: round + 1 });
  return "at_end";
}
