import { reach } from "#faults";
import type { InboxOutcome } from "../../../inbox/inbox-store.js";
import { handlerId } from "../../../consumer-name.js";
import { nameOfId } from "../../../incoming-name.js";
import { handledAgain, MARKED_S } from "../../../operator/replay-store.js";
import type { Forgotten, ReplayStore, StagedAgain, WantedAgain } from "../../../operator/replay-store.js";
import { placeIn } from "../../../outbox/fan-out.js";
import { placeAgain } from "../lanes/places.js";
import type { OutboxTurn } from "../outbox/turn.js";

interface RowColumns {
  readonly outcome: InboxOutcome;
  readonly round: bigint;
  readonly event: bigint | null;
  readonly key: string | null;
}

/** Lets events be handled again: their rows are pending, and they have their places at the ends of their lanes. */
export function stageAgain(turn: OutboxTurn, wanted: readonly WantedAgain[]): readonly StagedAgain[] {
  return wanted.map((each) => stageOne(turn, each));
}

function stageOne(turn: OutboxTurn, wanted: WantedAgain): StagedAgain {
  const { client, consumers } = turn;
  const { tenant, source, id, consumer: name } = wanted;
  const row = client.getWide(
    `select i.outcome, i.round, e.id as event, e.key from posthorn_inbox i
     left join posthorn_event e on e.id = (
       select max(id) from posthorn_event where public_id = i.stored_as and tenant = i.tenant)
     where i.tenant = ? and i.source = ? and i.event_id = ? and i.consumer = ?`,
    tenant,
    source,
    id,
    name,
  ) as RowColumns | undefined;
  if (row === undefined) return "unknown";
  const number = consumers.numbers.get(handlerId(name));
  const handler = number === undefined ? undefined : consumers.byNumber.get(number);
  const { outcome, event } = row;
  const known = {
    outcome,
    round: Number(row.round),
    hasEvent: event !== null,
    hasConsumer: handler !== undefined,
  };
  const again = handledAgain(wanted, known);
  if (typeof again === "string" || event === null || handler === undefined) return again as StagedAgain;
  reach("stage_again.before_record");
  // Without a time, so that no purge removes the round of what is still to be handled.
  client.run(
    `update posthorn_inbox set outcome = 'pending', keep_until = null, round = ?
     where tenant = ? and source = ? and event_id = ? and consumer = ?`,
    again,
    tenant,
    source,
    id,
    name,
  );
  const place = placeIn(handler, { tenant, source, key: row.key ?? undefined });
  placeAgain(turn, place, { event, round: 1 });
  reach("stage_again.after_record");
  return "staged";
}

/** Forgets an event at all of its consumers, with the names under which it came. */
export function forgetEvent(
  { client }: OutboxTurn,
  { tenant, source, id }: { readonly tenant: string; readonly source: string; readonly id: string },
): Forgotten {
  const key = [tenant, source, id];
  const rows = client.all(
    "select outcome, stored_as from posthorn_inbox where tenant = ? and source = ? and event_id = ?",
    ...key,
  ) as { outcome: InboxOutcome; stored_as: string | null }[];
  if (rows.some(({ outcome }) => outcome === "pending")) return { kind: "pending" };
  reach("forget.before_record");
  for (const table of ["posthorn_inbox", "posthorn_inbox_attempt"])
    client.run(`delete from ${table} where tenant = ? and source = ? and event_id = ?`, ...key);
  const named = client.all(
    "delete from posthorn_ingest_name where tenant = ? and name = ? returning event_id",
    tenant,
    nameOfId(source, id),
  ) as { event_id: string }[];
  const stored = [
    ...rows.flatMap(({ stored_as }) => stored_as ?? []),
    ...named.map(({ event_id }) => event_id),
  ];
  const others = client.run(
    // The character after the slash, so that all names of the source are between them.
    `delete from posthorn_ingest_name where tenant = ? and name >= ? and name < ?
       and event_id in (select value from json_each(?))`,
    tenant,
    `${source}/`,
    `${source}0`,
    JSON.stringify(stored),
  );
  reach("forget.after_record");
  const names = named.length + others;
  return rows.length + names === 0 ? { kind: "unknown" } : { kind: "forgotten", rows: rows.length, names };
}

/** Calls a row applied. */
export function markApplied(
  { client, nowMs }: OutboxTurn,
  { tenant, source, id, consumer, round }: Parameters<ReplayStore["markApplied"]>[0],
): boolean {
  const marked = client.run(
    `update posthorn_inbox set outcome = 'success', keep_until = ?
     where tenant = ? and source = ? and event_id = ? and consumer = ? and round = ? and outcome <> 'success'`,
    nowMs + MARKED_S * 1000,
    tenant,
    source,
    id,
    consumer,
    round,
  );
  return marked > 0;
}
