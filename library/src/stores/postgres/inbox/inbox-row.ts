import type { Arrival, InboxKey, InboxRow, KnownEvent } from "../../../inbox/inbox-store.js";
import { bytes, columns, instant, number, optional, text } from "../client/columns.js";
import type { Parameter, Row, Session } from "../client/database.js";
import { keptText } from "../../../inbox/arrival/kept-headers.js";
import { withoutNul } from "../client/identifiers.js";
import type { Tables } from "../schema/tables.js";

/** The consumer of every row here: the handler that runs inside of the receiver's transaction. */
export const RECEIVER = "''";

const KNOWN = columns<KnownEvent>({
  outcome: text("outcome"),
  bodyHash: bytes("body_hash"),
  receivedAt: instant("received_at"),
});

/** The columns that say what is known of an event, read by `knownOf`. */
export const KNOWN_COLUMNS: string = KNOWN.list;

export function knownOf(row: Row): KnownEvent {
  return KNOWN.read(row);
}

/** For the parameters of {@link keyParams}. */
const IS_KEY = `tenant = $1::text and source = $2::text and event_id = $3::text and consumer = ${RECEIVER}`;

/** The same of another consumer, whose name is the parameter $4. */
const IS_KEY_OF = `tenant = $1::text and source = $2::text and event_id = $3::text and consumer = $4::text`;

export function keyParams({ tenant, source, id }: InboxKey): Parameter[] {
  return [tenant, source, id];
}

/** Of a row: its window has not passed. What a purge would remove is not known any more, whether or not one has run. */
export const IS_KEPT = "(keep_until is null or keep_until > (select clock_timestamp()))";

/** Reads what is known of one event. */
export async function readKnown(
  session: Session,
  key: InboxKey,
  { inbox }: Tables,
  { consumer = "", ifKept = false }: { readonly consumer?: string; readonly ifKept?: boolean },
): Promise<KnownEvent | undefined> {
  const { rows } = await session.query({
    text: `select ${KNOWN_COLUMNS} from ${inbox} where ${IS_KEY_OF}${ifKept ? ` and ${IS_KEPT}` : ""}`,
    params: [...keyParams(key), consumer],
  });
  return rows[0] && KNOWN.read(rows[0]);
}

/** The event that a row of a worker refers to: the newest of its public id, as a replay takes it. */
export function storedEventSql({ event }: Tables, row: string): string {
  return `select body, headers from ${event} as event
      where event.public_id = ${row}.stored_as and event.tenant = ${row}.tenant order by event.id desc limit 1`;
}

const WHOLE = columns<Omit<InboxRow, keyof KnownEvent | keyof InboxKey>>({
  idPreview: optional(text("id_preview")),
  type: text("type"),
  eventAt: optional(instant("event_at")),
  body: optional(bytes("coalesce(known.body, stored.body)")),
  headers: optional(text("coalesce(known.headers, stored.headers)")),
  key: optional(text("ordering_key")),
  lastReceivedAt: instant("last_received_at"),
  keepUntil: optional(instant("keep_until")),
  attempts: number("attempts"),
  receipts: number("receipts"),
  result: optional(text("result")),
  error: optional(text("error")),
});

/** Reads a whole row. */
export async function readRow(
  session: Session,
  key: InboxKey,
  tables: Tables,
): Promise<InboxRow | undefined> {
  const { rows } = await session.query({
    text: `
      select ${KNOWN.list}, ${WHOLE.list} from ${tables.inbox} as known
      left join lateral (${storedEventSql(tables, "known")}) as stored on known.body is null
      where ${IS_KEY}`,
    params: keyParams(key),
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  const { tenant, source, id } = key;
  const { headers, ...whole } = WHOLE.read(row, KNOWN.size);
  return { ...KNOWN.read(row), tenant, source, id, ...whole, headers: headers && keptText(headers) };
}

/** What an arrival brings, as the parameters $1 to $10 of `ARRIVAL`. */
export function arrivalParams(arrival: Arrival): Parameter[] {
  const { idPreview, type, eventAt, windowS, headers, bodyHash, body } = arrival;
  return [
    ...keyParams(arrival),
    idPreview ?? null,
    withoutNul(type),
    eventAt === undefined ? null : String(eventAt.getTime()),
    windowS === undefined ? null : String(windowS),
    headers,
    bodyHash,
    body,
  ];
}

/** One row with an arrival's values and the current time: `now()` would be the time at which the transaction began. */
export const ARRIVAL = `
  select $1::text as tenant, $2::text as source, $3::text as event_id, $4::text as id_preview, $5::text as type,
    to_timestamp($6::text::float8 / 1000) as event_at, $8::text as headers, $9::bytea as body_hash, $10::bytea as body,
    clock.at, clock.at + make_interval(secs => $7::text::float8) as keep_until
  from (select clock_timestamp() as at) as clock`;

/**
 * Tries the lock that every writer of an event's row takes first and holds to the end of its transaction. Nobody waits
 * for it: 200 duplicates of a slow handler would wait on 200 connections.
 */
export function tryLock(tables: Tables): string {
  return `pg_try_advisory_xact_lock(${lockOfEvent(tables)})`;
}

/** The number of that lock, for the parameters of {@link keyParams}. */
export function lockOfEvent(tables: Tables): string {
  return lockOf(tables, ["$1::text", "$2::text", "$3::text"]);
}

/** The number of the lock of a handler that has a name of its own. */
export function lockOfHandler(name: string, lock: string): string {
  return `hashtextextended(${name}, ${lock})`;
}

/** The number of that lock, of the event in a row. */
export function eventLock(tables: Tables, row: string): string {
  return lockOf(tables, [`${row}.tenant`, `${row}.source`, `${row}.event_id`]);
}

function lockOf({ inbox }: Tables, key: readonly string[]): string {
  const seed = `'${inbox}'::regclass::oid::int8`;
  return key.reduce((inner, part) => `hashtextextended(${part}, ${inner})`, seed);
}
