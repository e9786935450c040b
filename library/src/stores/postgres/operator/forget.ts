import { reach } from "#faults";
import { DEFAULT_HANDLER } from "../../../consumer-name.js";
import { nameOfId } from "../../../incoming-name.js";
import type { Forgotten } from "../../../operator/replay-store.js";
import { textArray } from "../client/column-arrays.js";
import { boolean, columns, optional, text } from "../client/columns.js";
import type { Session } from "../client/database.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { lockOfEvent, lockOfHandler } from "../inbox/inbox-row.js";
import type { Tables } from "../schema/tables.js";

/** Which event is meant. */
export interface ForgottenEvent {
  readonly tenant: string;
  readonly source: string;
  readonly id: string;
}

interface RowValues {
  readonly waits: boolean;
  readonly storedAs: string | undefined;
}

// Where its handler was removed, nobody handles what is pending.
const WAITS =
  "outcome = 'pending' and (case known.consumer when '' then 'default' else known.consumer end) = any (handlers)";
const ROW = columns<RowValues>({ waits: boolean(WAITS), storedAs: optional(text("stored_as")) });
const COUNT = columns<{ readonly isAll: boolean }>({ isAll: boolean("count(*) = $4::text::int8") });
const LOCKED = columns<{ readonly isLocked: boolean }>({ isLocked: boolean("bool_and(got)") });
const LEASED = columns<{ readonly isLeased: boolean }>({ isLeased: boolean("count(*) > 0") });
const NAME = columns<{ readonly eventId: string }>({ eventId: text("event_id") });

const OF_EVENT = "tenant = $1::text and source = $2::text and event_id = $3::text";

/** Forgets an event at all of its consumers, with the names under which it came and the steps of its handlers. */
export async function forgetEvent(
  { transactions, tables }: StoreDatabase,
  event: ForgottenEvent,
): Promise<Forgotten> {
  const key = [event.tenant, event.source, event.id];
  const forgotten = await transactions.run(async (session): Promise<Forgotten> => {
    const rows = await lockRows(session, key, tables);
    const stored = [
      ...(rows ?? []).flatMap(({ storedAs }) => storedAs ?? []),
      ...(await namedIds(session, event, tables)),
    ];
    if (rows === undefined || (await isLeased(session, { tenant: event.tenant, stored, tables })))
      return { kind: "busy" };
    if (rows.some(({ waits }) => waits)) return { kind: "pending" };
    reach("forget.before_record");
    let steps = 0;
    for (const table of [tables.inbox, tables.inboxAttempt, tables.step]) {
      const gone = await session.query({
        text: `delete from ${table} where ${OF_EVENT} returning event_id`,
        params: key,
      });
      if (table === tables.step) steps = gone.rows.length;
    }
    const names = await forgetNames(session, event, { stored, tables });
    reach("forget.after_record");
    if (rows.length + names + steps === 0) return { kind: "unknown" };
    return { kind: "forgotten", rows: rows.length, names };
  }, "fresh");
  reach("forget.after_commit");
  return forgotten;
}

/** The event's rows, locked; undefined where a handler of it runs. */
async function lockRows(
  session: Session,
  key: readonly string[],
  tables: Tables,
): Promise<readonly RowValues[] | undefined> {
  // The row of a first run is not committed yet, and seen by nobody: its handler has the lock of the event, or its own.
  const tried = await session.query({
    text: `
      select ${LOCKED.list} from (
        select pg_try_advisory_xact_lock(number) as got from (
          select ${lockOfEvent(tables)} union all
          select ${lockOfHandler("substr(public_id, 5)", lockOfEvent(tables))} from ${tables.consumer}
          where kind = 'handler' and public_id <> '${DEFAULT_HANDLER}'
        ) as locks (number)
      ) as tried`,
    params: key,
  });
  if (tried.rows[0] === undefined || !LOCKED.read(tried.rows[0]).isLocked) return undefined;
  const locked = await session.query({
    text: `
      select ${ROW.list} from ${tables.inbox} as known
      cross join lateral (
        select array(select substr(public_id, 5) from ${tables.consumer} where kind = 'handler' and removed_at is null) as handlers
      ) as registered
      where ${OF_EVENT} for update of known skip locked`,
    params: key,
  });
  const rows = locked.rows.map((row) => ROW.read(row));
  const counted = await session.query({
    text: `select ${COUNT.list} from ${tables.inbox} where ${OF_EVENT}`,
    params: [...key, String(rows.length)],
  });
  // A row that somebody else holds: its handler runs, or another operator is at it.
  return counted.rows[0] === undefined || !COUNT.read(counted.rows[0]).isAll ? undefined : rows;
}

/** The ids of what was stored under the name of the event's id. */
async function namedIds(
  session: Session,
  { tenant, source, id }: ForgottenEvent,
  { ingestName }: Tables,
): Promise<readonly string[]> {
  const { rows } = await session.query({
    text: `select ${NAME.list} from ${ingestName} where tenant = $1::text and name = $2::text`,
    params: [tenant, nameOfId(source, id)],
  });
  return rows.map((row) => NAME.read(row).eventId);
}

/** Whether a worker has one of these events under way: a long handler runs without a transaction, and would mark it at its end. */
async function isLeased(
  session: Session,
  {
    tenant,
    stored,
    tables,
  }: { readonly tenant: string; readonly stored: readonly string[]; readonly tables: Tables },
): Promise<boolean> {
  if (stored.length === 0) return false;
  const { event, consumer, delivery, laneState, loose } = tables;
  const { rows } = await session.query({
    text: `
      with wanted as materialized (
        select id from ${event} where public_id = any ($2::text[]) and tenant = $1::text
      ), leased as materialized (
        select state.consumer_id from wanted
        join ${delivery} as held on held.event_id = wanted.id
        join ${laneState} as state on state.lane_id = held.lane_id
        where state.leased_until > clock_timestamp() and held.seq < state.head_seq + greatest(state.run_len, 1)
        union all
        select loose.consumer_id from ${loose} as loose
        where leased_by is not null and leased_until > clock_timestamp() and event_id in (select id from wanted)
      )
      select ${LEASED.list} from leased join ${consumer} as consumer on consumer.id = consumer_id and kind = 'handler'`,
    params: [tenant, textArray(stored)],
  });
  return rows[0] !== undefined && LEASED.read(rows[0]).isLeased;
}

// By its id's name, which the key of names has; its other names are found among those of its source, by the event.
async function forgetNames(
  session: Session,
  { tenant, source, id }: ForgottenEvent,
  { stored, tables }: { readonly stored: readonly string[]; readonly tables: Tables },
): Promise<number> {
  const byId = await session.query({
    text: `delete from ${tables.ingestName} where tenant = $1::text and name = $2::text returning event_id as id`,
    params: [tenant, nameOfId(source, id)],
  });
  if (stored.length === 0) return byId.rows.length;
  const others = await session.query({
    text: `
      delete from ${tables.ingestName}
      where tenant = $1::text and name >= $2::text collate "C" and name < $3::text collate "C"
        and event_id = any ($4::text[])
      returning event_id as id`,
    // The character after the slash, so that all names of the source are between them.
    params: [tenant, `${source}/`, `${source}0`, textArray(stored)],
  });
  return byId.rows.length + others.rows.length;
}
