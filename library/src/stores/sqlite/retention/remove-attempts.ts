import type { RemovalStep } from "../../../retention/retention-store.js";
import type { SqliteClient } from "../client/client.js";
import type { RecordPlace } from "../lanes/attempt-rows.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { isOpen, placesOf } from "./remove-events.js";
import type { Removed } from "./removed.js";

/**
 * Removes attempts, or their answers, of events that are old enough but stay. Each event is looked at once: what is open
 * then goes with its event.
 */
export function removeAttempts(turn: OutboxTurn, { kind, windowMs, limit }: RemovalStep): Removed {
  const { client, nowMs } = turn;
  const cutoff = nowMs - windowMs;
  const looked = client.allWide(
    `select id, written_at from posthorn_event
     where id > coalesce((select up_to from posthorn_retention where kind = ?), 0) order by id limit +?`,
    kind,
    limit,
  ) as { id: bigint; written_at: bigint }[];
  const old = looked.filter(({ written_at }) => Number(written_at) <= cutoff);
  const lanes = new Set<bigint>();
  let rows = 0;
  for (const { id } of old) {
    for (const place of placesOf(client, id)) {
      if (isOpen(client, place) || isUnresolved(client, place)) continue;
      rows += kind === "answers" ? emptyAnswers(client, place) : removeTried(client, { event: id, ...place });
      if (place.lane !== 0n) lanes.add(place.lane);
    }
  }
  const upTo = old.at(-1)?.id;
  const next = old.length === limit && upTo !== undefined ? String(upTo) : undefined;
  return { rows, next, lanes: kind === "answers" ? new Set() : lanes, upTo };
}

function isUnresolved(client: SqliteClient, { lane, seq }: RecordPlace): boolean {
  const row = client.get(
    "select 1 as found from posthorn_dead where lane = ? and seq = ? and resolved_at is null limit 1",
    lane,
    seq,
  );
  return row !== undefined;
}

function emptyAnswers(client: SqliteClient, { lane, seq }: RecordPlace): number {
  return client.run(
    `update posthorn_attempt set answer = null
     where lane = ? and seq = ? and answer is not null`,
    lane,
    seq,
  );
}

/** With its place, unless a record of its end is left: a place of which nothing is known would be told as dead. */
function removeTried(
  client: SqliteClient,
  { event, lane, seq }: RecordPlace & { readonly event: bigint },
): number {
  const rows = client.run("delete from posthorn_attempt where lane = ? and seq = ?", lane, seq);
  return rows + removePlace(client, { event, lane, seq });
}

/** Removes a place of which nothing is told any more. */
export function removePlace(
  client: SqliteClient,
  { event, lane, seq }: RecordPlace & { readonly event: bigint },
): number {
  return client.run(
    `delete from posthorn_place as p where event = ? and lane = ? and seq = ?
       and not exists (select 1 from posthorn_attempt where lane = p.lane and seq = p.seq)
       and not exists (select 1 from posthorn_dead where lane = p.lane and seq = p.seq)
       and not exists (select 1 from posthorn_cancelled where lane = p.lane and seq = p.seq)`,
    event,
    lane,
    seq,
  );
}
