import type { DeadRound, RedrivenRound } from "../../../operator/dead-store.js";
import type { Redriven } from "../../../operator/operator-store.js";
import { isHandler, placeIn } from "../../../outbox/fan-out.js";
import { laneOf } from "../lanes/lane-row.js";
import { placeEvent } from "../lanes/places.js";
import { writeChange } from "../lanes/record-ended.js";
import type { MemoryParts } from "../parts.js";

/** Makes a dead delivery due again: in its place where it is still the head, else at the end of its event's lane. */
export function redrive(parts: MemoryParts, deliveryId: string): Redriven {
  const { clock, endpoints, history, rule } = parts;
  const dead = history.dead(deliveryId);
  const consumer = dead && endpoints.consumer(dead.lane.endpointId);
  if (dead === undefined) return redriveCancelled(parts, deliveryId);
  if (consumer === undefined) return "unknown";
  // The receiver of an endpoint was told of the gap.
  if (dead.passed === "cancelled" && !isHandler(consumer)) return "unknown";
  history.resolveDead(deliveryId, new Date(clock.now()));
  const { lane, delivery } = dead;
  const change = rule.redriven(laneOf(lane), delivery.sequence);
  if (change !== undefined) {
    writeChange(parts, lane, change);
    return lane.kind === "lane" ? "in_place" : "at_end";
  }
  const { event, round } = delivery;
  placeEvent(parts, event, { ...placeIn(consumer, event), round: round + 1 });
  return "at_end";
}

/** Redrives each in its round; one that died again since then is in another round, and stays. */
export function redriveAll(parts: MemoryParts, letters: readonly DeadRound[]): readonly RedrivenRound[] {
  const { history } = parts;
  return letters.map(({ id, round }) => {
    if (history.dead(id)?.delivery.round === round) return redrive(parts, id);
    if (history.wasRedriven(id, round)) return "before";
    return history.ending(id)?.round === round ? redriveCancelled(parts, id) : "unknown";
  });
}

/** Puts a delivery at a handler that a person passed over while it waited at the end of its lane. */
function redriveCancelled(parts: MemoryParts, deliveryId: string): Redriven {
  const { endpoints, history } = parts;
  const consumer = endpoints.consumer(history.cancelledAt(deliveryId) ?? "");
  if (consumer === undefined || !isHandler(consumer)) return "unknown";
  const passed = history.redriveCancelled(deliveryId);
  if (passed === undefined) return "unknown";
  const { event, round } = passed;
  placeEvent(parts, event, { ...placeIn(consumer, event), round: round + 1 });
  return "at_end";
}
