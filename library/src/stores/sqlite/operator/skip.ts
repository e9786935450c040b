import type { Skipped } from "../../../operator/operator-store.js";
import { cancelHead, noteLapse, passHead } from "../lanes/lane-head.js";
import { readLane, saveLane } from "../lanes/lane.js";
import type { OutboxTurn } from "../outbox/turn.js";

/** Passes over a lane's head, where it is this one. A dead one stays redrivable; one that a worker has under way is passed over when that is settled. */
export function skipHead(turn: OutboxTurn, laneId: bigint, head: bigint): Skipped {
  const { client, nowMs } = turn;
  const lane = readLane(client, laneId);
  // A second click is meant for the same one: without this it would pass over the next.
  if (lane === undefined || lane.isEmpty || lane.headSeq !== head) return "unknown";
  if (lane.leasedBy !== null && (lane.leasedUntil ?? 0) > nowMs) {
    lane.intent = "skip";
    saveLane(client, lane);
    return "intended";
  }
  // Its lease has ended, and the worker may still come: under the next epoch it changes nothing.
  if (lane.leasedBy !== null) {
    noteLapse(turn, lane);
    lane.epoch += 1n;
  }
  if (lane.state === "flowing") cancelHead(turn, lane, "skipped");
  else passHead(turn, lane);
  saveLane(client, lane);
  return "skipped";
}
