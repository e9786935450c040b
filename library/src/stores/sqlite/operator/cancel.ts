import { cancelledRange } from "../../../lanes/cancelled-range.js";
import type { LaneCancelled } from "../../../operator/dead-store.js";
import { changeLane } from "../lanes/lane-write.js";
import { readRow } from "../lanes/lane-row.js";
import type { OutboxTurn } from "../outbox/turn.js";

/** Cancels what waits in a lane, from its head to a sequence. */
export function cancelLane(turn: OutboxTurn, laneId: bigint, through: bigint): LaneCancelled {
  const { client, nowMs } = turn;
  const row = readRow(client, "lane", laneId);
  if (row === undefined) return { kind: "unknown" };
  const leaseHasEnded = (row.leasedUntil ?? 0) <= nowMs;
  const range = cancelledRange(row.lane, { through, leaseHasEnded });
  if (range === "unknown") return { kind: range };
  if (range === "intended") {
    client.run("update posthorn_lane set intent = 'skip' where id = ?", laneId);
    return { kind: range };
  }
  client.run(
    `insert into posthorn_cancelled (lane, seq, round, event, consumer, because, cancelled_at)
     select lane, seq, round, event, ?, 'cancelled', ? from posthorn_delivery
     where lane = ? and seq >= ? and seq <= ?`,
    row.consumer,
    nowMs,
    laneId,
    range.from,
    range.through,
  );
  if (range.dead !== undefined) {
    client.run(
      `update posthorn_dead set resolved_at = ?, resolved_how = 'cancelled'
       where lane = ? and seq = ? and resolved_at is null`,
      nowMs,
      laneId,
      range.dead,
    );
  }
  const count = Number(range.change.head - row.lane.head);
  changeLane(turn, row, range.change);
  return { kind: "cancelled", count };
}
