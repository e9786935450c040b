import { reach } from "#faults";
import type { InboxOutcome } from "../../../inbox/inbox-store.js";
import { handlerId } from "../../../consumer-name.js";
import { handledAgain, MARKED_S } from "../../../operator/replay-store.js";
import type { ReplayStore, StagedAgain, WantedAgain } from "../../../operator/replay-store.js";
import { bigint, columns, number, optional, text } from "../client/columns.js";
import type { Session } from "../client/database.js";
import { givenRows, numbers, texts } from "../client/given-rows.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { keepRemovalOut } from "../retention/retention-lock.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";

const WANTED = givenRows<WantedAgain>({
  tenant: texts(({ tenant }) => tenant),
  source: texts(({ source }) => source),
  event_id: texts(({ id }) => id),
  consumer: texts(({ consumer }) => consumer),
  handler_id: texts(({ consumer }) => handlerId(consumer)),
});

interface LockedRow {
  readonly n: number;
  readonly ctid: string;
  readonly outcome: InboxOutcome;
  readonly round: number;
  readonly eventId: bigint | undefined;
  readonly consumerId: bigint | undefined;
}

const LOCKED = columns<LockedRow>({
  n: number("wanted.n"),
  ctid: text("known.ctid::text"),
  outcome: text<InboxOutcome>("known.outcome"),
  round: number("known.round"),
  eventId: optional(bigint("stored.id")),
  consumerId: optional(bigint("handler.id")),
});

// A handler that runs holds its row: nobody waits for it here.
const LOCK = sqlFor(
  ({ inbox, event, consumer }) => `
    select ${LOCKED.list}
    from ${WANTED.table("wanted")}
    join ${inbox} as known on known.tenant = wanted.tenant and known.source = wanted.source
      and known.event_id = wanted.event_id and known.consumer = wanted.consumer
    left join lateral (
      select max(event.id) as id from ${event} as event
      where event.public_id = known.stored_as and event.tenant = known.tenant
    ) as stored on true
    left join lateral (
      select id from ${consumer} as handler
      where handler.public_id = wanted.handler_id and kind = 'handler' and removed_at is null
    ) as handler on true
    order by wanted.n for update of known skip locked`,
);

const THERE = sqlFor(
  ({ inbox }) => `
    select n::text as n from ${WANTED.table("wanted")}
    join ${inbox} as known using (tenant, source, event_id, consumer)`,
);

interface Change {
  readonly row: LockedRow;
  readonly round: number;
  readonly tenant: string;
}

const CHANGES = givenRows<Change>({
  tenant: texts(({ tenant }) => tenant),
  at: texts(({ row }) => row.ctid),
  round: numbers("int4", ({ round }) => round),
  event_id: numbers("int8", ({ row }) => row.eventId),
  consumer_id: numbers("int8", ({ row }) => row.consumerId),
});

// Without a time, so that no purge removes the round of what is still to be handled.
const CHANGE = sqlFor(
  ({ inbox, stage }) => `
    with given as materialized (
      select * from ${CHANGES.table("given")}
    ), changed as (
      update ${inbox} as known set outcome = 'pending', keep_until = null, round = given.round
      from given where known.ctid = given.at::tid
    )
    insert into ${stage} (tenant, event_id, target_consumer_id)
    select tenant, event_id, consumer_id from given order by n`,
);

/** Lets events be handled again: their rows are pending, and they are staged for their consumers, in one transaction. */
export async function stageAgain(
  { transactions, tables }: StoreDatabase,
  wanted: readonly WantedAgain[],
): Promise<readonly StagedAgain[]> {
  const staged = await transactions.run(async (session) => {
    await keepRemovalOut(session, tables);
    const locked = await lockRows(session, wanted, tables);
    const seen = new Set<string>();
    const judged = wanted.map((each, n): StagedAgain | Change | undefined => {
      const row = locked.get(n + 1);
      if (row === undefined) return undefined;
      // Of two that are the same, the first counts.
      if (seen.size === seen.add(row.ctid).size) return "before";
      const { outcome, round, eventId, consumerId } = row;
      const known = {
        outcome,
        round,
        hasEvent: eventId !== undefined,
        hasConsumer: consumerId !== undefined,
      };
      const again = handledAgain(each, known);
      return typeof again === "string" ? again : { row, round: again, tenant: each.tenant };
    });
    const changes = judged.filter((each) => typeof each === "object");
    reach("stage_again.before_record");
    if (changes.length > 0)
      await session.query({ text: CHANGE(tables), params: CHANGES.params(changes), prepared: true });
    reach("stage_again.after_record");
    const there = judged.includes(undefined) ? await readThere(session, wanted, tables) : new Set<number>();
    return judged.map((each, n) => {
      if (each === undefined) return there.has(n + 1) ? "busy" : "unknown";
      return typeof each === "string" ? each : ("staged" as const);
    });
  });
  reach("stage_again.after_commit");
  return staged;
}

async function lockRows(
  session: Session,
  wanted: readonly WantedAgain[],
  tables: Tables,
): Promise<ReadonlyMap<number, LockedRow>> {
  const { rows } = await session.query({ text: LOCK(tables), params: WANTED.params(wanted), prepared: true });
  return new Map(rows.map((row) => LOCKED.read(row)).map((row) => [row.n, row]));
}

async function readThere(
  session: Session,
  wanted: readonly WantedAgain[],
  tables: Tables,
): Promise<ReadonlySet<number>> {
  const { rows } = await session.query({ text: THERE(tables), params: WANTED.params(wanted) });
  return new Set(rows.map(([n]) => Number(n)));
}

/** Calls a row applied; one whose handler runs is left to it. */
export async function markApplied(
  { transactions, tables }: StoreDatabase,
  { tenant, source, id, consumer, round }: Parameters<ReplayStore["markApplied"]>[0],
): Promise<boolean> {
  const { rows } = await transactions.write({
    text: MARK(tables),
    params: [tenant, source, id, consumer, String(round), String(MARKED_S)],
    prepared: true,
  });
  return rows.length > 0;
}

const MARK = sqlFor(
  ({ inbox }) => `
    update ${inbox} set outcome = 'success', keep_until = clock_timestamp() + make_interval(secs => $6::text::float8)
    where ctid = any (array(
      select ctid from ${inbox}
      where tenant = $1::text and source = $2::text and event_id = $3::text and consumer = $4::text
        and round = $5::text::int4 and outcome <> 'success' for update skip locked
    ))
    returning consumer as marked`,
);
