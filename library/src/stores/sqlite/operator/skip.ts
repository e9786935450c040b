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
  if (row.lane.state !== "flowing") resolveSkipped(turn, laneId, head);
  changeLane(turn, row, change);
  return "skipped";
}

/** A person has decided about the dead letter: it is listed no more. A redrive still finds it. */
function resolveSkipped({ client, nowMs }: OutboxTurn, laneId: bigint, head: bigint): void {
  client.run(
    `update posthorn_dead set resolved_at = ?, resolved_how = 'skipped'
     where lane = ? and seq = ? and resolved_at is null`,
    nowMs,
    laneId,
    head,
  );
}
