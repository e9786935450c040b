import type { LaneChange } from "../../../lanes/lane.js";
import type { MemoryParts } from "../parts.js";
import { headOf } from "./lane-row.js";
import type { Delivery, LaneRow } from "./lane-row.js";

/** Writes all that the rule says of a lane: what was tried, what ended, and the lane itself, in one step. */
export function writeChange(parts: MemoryParts, row: LaneRow, change: LaneChange): void {
  const { clock, endpoints, history, lanes } = parts;
  const at = new Date(clock.now());
  const { dead, cancelled, disabled, paused } = change;
  for (const attempt of change.tried) history.addAttempt(row, attempt);
  if (dead !== undefined) {
    const { sequence, ...how } = dead;
    history.addDead(row, deliveryAt(row, sequence), { ...how, diedAt: at });
  }
  if (cancelled !== undefined) {
    const { sequence, because } = cancelled;
    history.addCancelled(row, deliveryAt(row, sequence), { because, at });
  }
  if (disabled !== undefined) endpoints.disable(row.endpointId, disabled);
  if (paused !== undefined) endpoints.pause(row.endpointId, paused);
  if (change.head === row.head && change.head < row.end && change.round !== headOf(row).round)
    lanes.writeRound(row, change.round);
  lanes.write(row, change, clock.monotonic());
}

function deliveryAt(row: LaneRow, sequence: bigint): Delivery {
  const delivery = row.deliveries.get(sequence);
  if (delivery === undefined) throw new Error(`Lane ${row.id} has no delivery ${sequence}.`);
  return delivery;
}
