import type { SqliteClient } from "../client/client.js";
import type { OutboxTurn } from "./turn.js";

/** What one step came to. */
export interface Removed {
  /** How many deliveries were cancelled. */
  readonly cancelled: number;
  /** Whether something is left. */
  readonly more: boolean;
}

interface RemovedConsumer {
  readonly id: bigint;
  /** As its cancelled deliveries say it. */
  readonly because: string;
}

/** Cancels up to `limit` deliveries that wait for consumers which were removed. */
export function cancelRemoved(turn: OutboxTurn, limit: number): Removed {
  const removed = turn.client.getWide(
    `select id, case kind when 'handler' then 'consumer_removed' else 'endpoint_removed' end as because
     from posthorn_consumer where removed_at is not null and cleared_at is null limit 1`,
  ) as RemovedConsumer | undefined;
  if (removed === undefined) return { cancelled: 0, more: false };
  let left = limit;
  let cancelled = 0;
  while (left > 0) {
    const ofLane = cancelLane(turn, removed, left);
    if (ofLane === undefined) break;
    cancelled += ofLane;
    left -= Math.max(1, ofLane);
  }
  const loose = cancelLoose(turn, removed, Math.max(0, left));
  left -= loose;
  left -= resolveDead(turn, removed.id, Math.max(0, left));
  if (left > 0) clear(turn, removed.id);
  return { cancelled: cancelled + loose, more: left <= 0 || isAnyRemoved(turn.client) };
}

/** Cancels what waits in one lane of the consumer, and drops the lane when it is empty; undefined where there is no lane. */
function cancelLane(
  { client, nowMs }: OutboxTurn,
  { id: consumer, because }: RemovedConsumer,
  limit: number,
): number | undefined {
  const lane = client.getWide(
    "select id, head_seq, next_seq, state from posthorn_lane where consumer = ? limit 1",
    consumer,
  ) as { id: bigint; head_seq: bigint; next_seq: bigint; state: string } | undefined;
  if (lane === undefined) return undefined;
  // The head of a lane that has stopped is dead, and has its record.
  const from = lane.state === "flowing" ? lane.head_seq : lane.head_seq + 1n;
  const most = from + BigInt(limit);
  const to = lane.next_seq < most ? lane.next_seq : most;
  const cancelled = client.run(
    `insert into posthorn_cancelled (lane, seq, round, event, consumer, because, cancelled_at)
     select lane, seq, round, event, ?, ?, ? from posthorn_delivery
     where lane = ? and seq >= ? and seq < ?`,
    consumer,
    because,
    nowMs,
    lane.id,
    from,
    to,
  );
  client.run("delete from posthorn_delivery where lane = ? and seq < ?", lane.id, to);
  if (to >= lane.next_seq) client.run("delete from posthorn_lane where id = ?", lane.id);
  else {
    // Out of the way of claims, and of the settlement that may still come.
    client.run(
      `update posthorn_lane set head_seq = ?, state = 'flowing', ready_at = null, leased_by = null where id = ?`,
      to,
      lane.id,
    );
  }
  return cancelled;
}

function cancelLoose(
  { client, nowMs }: OutboxTurn,
  { id: consumer, because }: RemovedConsumer,
  limit: number,
): number {
  const found = client.allWide(
    // Those without a ready time are dead.
    "select id from posthorn_loose_delivery where consumer = ? and ready_at is not null limit ?",
    consumer,
    limit,
  ) as { id: bigint }[];
  for (const { id } of found) {
    client.run(
      `insert into posthorn_cancelled (lane, seq, round, event, consumer, because, cancelled_at)
       select 0, id, round, event, consumer, ?, ? from posthorn_loose_delivery where id = ?`,
      because,
      nowMs,
      id,
    );
    client.run("delete from posthorn_loose_delivery where id = ?", id);
  }
  return found.length;
}

/** What is dead keeps its record, and is no longer listed: nobody can redrive it. */
function resolveDead({ client, nowMs }: OutboxTurn, consumer: bigint, limit: number): number {
  const found = client.allWide(
    "select id, lane, seq from posthorn_dead where resolved_at is null and consumer = ? limit ?",
    consumer,
    limit,
  ) as { id: bigint; lane: bigint; seq: bigint }[];
  for (const { id, lane, seq } of found) {
    if (lane === 0n) client.run("delete from posthorn_loose_delivery where id = ?", seq);
    client.run(
      "update posthorn_dead set resolved_at = ?, resolved_how = 'cancelled' where id = ?",
      nowMs,
      id,
    );
  }
  return found.length;
}

function clear({ client, nowMs }: OutboxTurn, consumer: bigint): void {
  client.run("update posthorn_consumer set cleared_at = ?, secrets = '[]' where id = ?", nowMs, consumer);
}

/** Whether something of a removed consumer is still to be cancelled. */
export function isAnyRemoved(client: SqliteClient): boolean {
  const found = client.get(
    "select 1 as found from posthorn_consumer where removed_at is not null and cleared_at is null limit 1",
  );
  return found !== undefined;
}
