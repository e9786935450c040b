import type { RemovalStep } from "../../../retention/retention-store.js";
import type { RecordPlace } from "../lanes/attempt-rows.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { isOpen } from "./remove-events.js";
import { removePlace } from "./remove-attempts.js";
import type { Removed } from "./removed.js";

/** Removes records that stand for themselves, oldest first: none of them is held by anything. */
export function removeEnded(turn: OutboxTurn, step: RemovalStep): Removed {
  const { client, nowMs } = turn;
  const cutoff = nowMs - step.windowMs;
  if (step.kind === "dead")
    return removeDeliveries(turn, step, { table: "posthorn_dead", since: "resolved_at" });
  if (step.kind === "cancelled")
    return removeDeliveries(turn, step, { table: "posthorn_cancelled", since: "cancelled_at" });
  const rows =
    step.kind === "set_aside"
      ? client.run(
          `delete from posthorn_stage_dead where id in
             (select id from posthorn_stage_dead where resolved_at <= ? order by resolved_at limit +?)`,
          cutoff,
          step.limit,
        )
      : client.run(
          `delete from posthorn_outbox_key where (tenant, public_id) in
             (select tenant, public_id from posthorn_outbox_key where keep_until <= ? order by keep_until limit +?)`,
          cutoff,
          step.limit,
        );
  return { rows, next: rows === step.limit ? step.kind : undefined, lanes: new Set() };
}

interface EndedColumns extends RecordPlace {
  readonly round: bigint;
  readonly event: bigint;
}

/** A record of an end takes the attempts of its round along: without it they would tell of a delivery that was made. */
function removeDeliveries(
  { client, nowMs }: OutboxTurn,
  { kind, windowMs, limit }: RemovalStep,
  { table, since }: { readonly table: string; readonly since: string },
): Removed {
  const found = client.allWide(
    `select lane, seq, round, event from ${table} where ${since} <= ? order by ${since} limit +?`,
    nowMs - windowMs,
    limit,
  ) as EndedColumns[];
  let rows = 0;
  for (const { lane, seq, round, event } of found) {
    rows += client.run(`delete from ${table} where lane = ? and seq = ? and round = ?`, lane, seq, round);
    rows += client.run(
      "delete from posthorn_attempt where lane = ? and seq = ? and round = ?",
      lane,
      seq,
      round,
    );
    if (!isOpen(client, { lane, seq })) rows += removePlace(client, { event, lane, seq });
  }
  const lanes = new Set(found.map(({ lane }) => lane).filter((lane) => lane !== 0n));
  return { rows, next: found.length === limit ? kind : undefined, lanes };
}
