import { skipped } from "../../../lanes/lane.js";
import type { Skipped } from "../../../operator/operator-store.js";
import { changeLane } from "../lanes/lane-write.js";
import { readRow } from "../lanes/lane-row.js";
import type { OutboxTurn } from "../outbox/turn.js";

/** Passes over a lane's head, where it is this one. */
export function skipHead(turn: OutboxTurn, laneId: bigint, head: bigint): Skipped {
  const row = readRow(turn.client, "lane", laneId);
  if (row === undefined) return "unknown";
  const leaseHasEnded = (row.leasedUntil ?? 0) <= turn.nowMs;
  const change = skipped(row.lane, { head, leaseHasEnded });
  if (change === "unknown") return "unknown";
  if (change === "intended") {
    turn.client.run("update posthorn_lane set intent = 'skip' where id = ?", laneId);
    return "intended";
  }
  changeLane(turn, row, change);
  return "skipped";
}
