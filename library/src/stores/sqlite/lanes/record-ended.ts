import type { DeadDelivery } from "../../../lanes/dead.js";
import { withoutNul } from "../inbox/inbox-row.js";
import type { OutboxTurn } from "../outbox/turn.js";
import type { RecordPlace } from "./attempt-rows.js";

/** A delivery at its end, as both kinds of records keep it. */
export interface EndedDelivery extends RecordPlace {
  readonly event: bigint;
  readonly round: number;
  readonly consumer: bigint;
}

/** Records a dead delivery. */
export function insertDead(
  { client, nowMs }: OutboxTurn,
  ended: EndedDelivery,
  { because, attempts, last }: Omit<DeadDelivery, "sequence">,
): void {
  client.run(
    `insert into posthorn_dead
       (lane, seq, round, event, consumer, because, died_at, attempts, last_status, last_error)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ended.lane,
    ended.seq,
    ended.round,
    ended.event,
    ended.consumer,
    because,
    nowMs,
    attempts,
    last?.status ?? null,
    last?.error === undefined ? null : withoutNul(last.error),
  );
}

/** Records a delivery that will not be made: an operator can then see what became of every event at every endpoint. */
export function insertCancelled(
  { client, nowMs }: OutboxTurn,
  ended: EndedDelivery,
  because: "expired" | "skipped",
): void {
  client.run(
    `insert into posthorn_cancelled (lane, seq, round, event, consumer, because, cancelled_at)
     values (?, ?, ?, ?, ?, ?, ?)`,
    ended.lane,
    ended.seq,
    ended.round,
    ended.event,
    ended.consumer,
    because,
    nowMs,
  );
}
