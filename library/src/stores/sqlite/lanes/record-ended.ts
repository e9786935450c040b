import type { DeadBecause } from "../../../lanes/dead.js";
import type { RowPlace } from "../operator/attempts.js";
import type { OutboxTurn } from "../outbox/turn.js";

export type CancelledBecause = "expired" | "skipped" | "endpoint_removed";

/** A delivery at its end, as both kinds of records keep it. */
export interface EndedDelivery extends RowPlace {
  readonly round: number;
  readonly endpoint: bigint;
  readonly attempts: number;
}

/** Records a dead delivery, with what its last attempt came to: those of this turn must be written before. */
export function insertDead({ client, nowMs }: OutboxTurn, ended: EndedDelivery, because: DeadBecause): void {
  const last = client.get(
    `select status, error from posthorn_attempt where lane = ? and seq = ? and round = ? order by no desc limit 1`,
    ended.lane,
    ended.seq,
    ended.round,
  ) as { status: number | null; error: string | null } | undefined;
  client.run(
    `insert into posthorn_dead
       (lane, seq, round, event, endpoint, because, died_at, attempts, last_status, last_error)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ended.lane,
    ended.seq,
    ended.round,
    ended.event,
    ended.endpoint,
    because,
    nowMs,
    ended.attempts,
    last?.status ?? null,
    last?.error ?? null,
  );
}

/** Records a delivery that is not to be made, so that every event can be told at every endpoint what became of it. */
export function insertCancelled(
  { client, nowMs }: OutboxTurn,
  ended: EndedDelivery,
  because: CancelledBecause,
): void {
  client.run(
    `insert into posthorn_cancelled (lane, seq, round, event, endpoint, because, cancelled_at, attempts)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
    ended.lane,
    ended.seq,
    ended.round,
    ended.event,
    ended.endpoint,
    because,
    nowMs,
    ended.attempts,
  );
}
