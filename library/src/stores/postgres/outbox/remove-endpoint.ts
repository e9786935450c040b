import type { Session } from "../client/database.js";
import { columns, optional, text } from "../client/columns.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import type { Tables } from "../schema/tables.js";

// Few enough that nobody waits long for the locks of one transaction.
const AT_ONCE = 500;

/**
 * Cancels what waits for consumers that were removed, a part at a time. Nothing of them is claimed any more. What a
 * process leaves that dies in the middle is finished by whoever removes a consumer next, or reads the consumers to
 * sequence events. Several may do it at once.
 */
export async function finishRemovals(database: StoreDatabase): Promise<void> {
  const { transactions, tables } = database;
  const { rows } = await transactions.read({
    text: `
      select id::text as id from ${tables.consumer} where removed_at is not null and cleared_at is null
      order by consumer.id`,
    params: [],
  });
  for (const [number] of rows) if (typeof number === "string") await finishOne(database, number);
}

// Planned for the tables as they are: a removal is rare, and may be of one lane or of a million.
async function finishOne({ transactions, tables }: StoreDatabase, consumer: string): Promise<void> {
  let after: LaneName | undefined;
  do after = await transactions.run((session) => cancelLanes(session, { consumer, after }, tables), "fresh");
  while (after !== undefined);
  while ((await transactions.run((session) => cancelLoose(session, consumer, tables), "fresh")) > 0);
  await transactions.run((session) => markCleared(session, consumer, tables), "fresh");
}

/** A lane's name at its consumer. */
interface LaneName {
  readonly tenant: string;
  readonly source: string;
  readonly key: string;
}

const LAST = columns<{ readonly [Part in keyof LaneName]: string | undefined }>({
  tenant: optional(text("tenant")),
  source: optional(text("source")),
  key: optional(text("key")),
});

/**
 * Returns the last name of this part; undefined where there is no further one. The lanes keep their names: the attempts
 * that were made in them tell of no consumer but by these.
 */
async function cancelLanes(
  session: Session,
  { consumer, after }: { readonly consumer: string; readonly after: LaneName | undefined },
  { lane, laneState, delivery, cancelled }: Tables,
): Promise<LaneName | undefined> {
  const { rows } = await session.query({
    text: `
      with gone as materialized (
        select lane_id, tenant, source, key from ${lane}
        where consumer_id = $1::text::int8
          and ($2::text is null or (tenant, source, key) > ($2::text, $3::text, $4::text))
        order by tenant, source, key limit ${AT_ONCE}
      ), locked as materialized (
        select state.* from (select lane_id from gone order by lane_id) as gone cross join lateral (
          select lane_id, head_seq, state.state from ${laneState} as state where state.lane_id = gone.lane_id for update
        ) as state
      ), ended as (
        delete from ${delivery} as delivery using locked where delivery.lane_id = locked.lane_id
        returning delivery.lane_id, seq, event_id, round, seq = head_seq and state in ('halted', 'parked') as is_dead
      ), recorded as (
        insert into ${cancelled} (consumer_id, lane_id, seq, event_id, round, because, cancelled_at)
        select $1::text::int8, lane_id, seq, event_id, round, 'endpoint_removed', clock_timestamp()
        from ended where not is_dead
      ), stateless as (
        delete from ${laneState} as state using locked where state.lane_id = locked.lane_id
      )
      select ${LAST.list} from gone order by gone.tenant desc, gone.source desc, gone.key desc limit 1`,
    params: [consumer, after?.tenant ?? null, after?.source ?? null, after?.key ?? null],
  });
  const { tenant, source, key } = LAST.read(rows[0] ?? []);
  return tenant === undefined || source === undefined || key === undefined
    ? undefined
    : { tenant, source, key };
}

async function cancelLoose(
  session: Session,
  consumer: string,
  { loose, cancelled }: Tables,
): Promise<number> {
  const { rows } = await session.query({
    text: `
      with gone as materialized (
        select id from ${loose} where consumer_id = $1::text::int8 and ready_at is not null
        order by id limit ${AT_ONCE} for update
      ), ended as (
        delete from ${loose} as loose using gone where loose.id = gone.id returning loose.id, event_id, round
      ), recorded as (
        insert into ${cancelled} (consumer_id, loose_id, event_id, round, because, cancelled_at)
        select $1::text::int8, id, event_id, round, 'endpoint_removed', clock_timestamp() from ended returning 1
      )
      select count(*)::text as count from recorded`,
    params: [consumer],
  });
  return Number(rows[0]?.[0] ?? 0);
}

/** Looked at once more: another process may still be at it, and die. */
async function markCleared(session: Session, number: string, tables: Tables): Promise<void> {
  const { consumer, lane, laneState, loose } = tables;
  await session.query({
    text: `
      update ${consumer} set cleared_at = clock_timestamp()
      where id = $1::text::int8 and cleared_at is null
        and not exists (
          select from ${lane} as lane join ${laneState} as state on state.lane_id = lane.lane_id
          where lane.consumer_id = $1::text::int8
        )
        and not exists (select from ${loose} where consumer_id = $1::text::int8 and ready_at is not null)`,
    params: [number],
  });
}
