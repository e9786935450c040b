import type { Arrival, InboxKey, InboxOutcome, InboxRow, KnownEvent } from "../../../inbox/inbox-store.js";
import type { Parameter, Row, Session } from "../client/database.js";
import { withoutNul } from "../client/identifiers.js";
import { bytesOfHex } from "../client/hex-column.js";

/** The tables of one schema, quoted. */
export interface InboxTables {
  readonly inbox: string;
  readonly attempt: string;
  readonly refused: string;
}

export function tablesIn(schema: string): InboxTables {
  return {
    inbox: `${schema}.inbox`,
    attempt: `${schema}.inbox_attempt`,
    refused: `${schema}.inbox_refused`,
  };
}

/** An instant as text: dates are parsed by the driver in ways that hosts change, and lose their zone. */
export function millisecondsOf(column: string): string {
  return `(extract(epoch from ${column}) * 1000)::int8::text`;
}

/** The columns that say what is known of an event, read by `knownOf`. */
export const KNOWN_COLUMNS: string = `outcome, encode(body_hash, 'hex'), ${millisecondsOf("received_at")}`;

export function knownOf([outcome, hash, receivedMs]: Row): KnownEvent {
  return {
    outcome: outcome as InboxOutcome,
    bodyHash: bytesOf(hash),
    receivedAt: new Date(Number(receivedMs)),
  };
}

/** Reads what is known of one event. */
export async function readKnown(
  session: Session,
  key: InboxKey,
  inbox: string,
): Promise<KnownEvent | undefined> {
  const { rows } = await session.query({
    text: `select ${KNOWN_COLUMNS} from ${inbox} where tenant = $1::text and source = $2::text and event_id = $3::text`,
    params: keyParams(key),
  });
  return rows[0] && knownOf(rows[0]);
}

/** Reads a whole row. */
export async function readRow(session: Session, key: InboxKey, inbox: string): Promise<InboxRow | undefined> {
  const { rows } = await session.query({
    text: `
      select ${KNOWN_COLUMNS}, id_preview, type, ${millisecondsOf("event_at")}, encode(body, 'hex'), headers,
        ${millisecondsOf("last_received_at")}, ${millisecondsOf("keep_until")},
        attempts::text, receipts::text, result, error
      from ${inbox} where tenant = $1::text and source = $2::text and event_id = $3::text`,
    params: keyParams(key),
  });
  return rows[0] && rowOf(key, rows[0]);
}

function rowOf({ tenant, source, id }: InboxKey, row: Row): InboxRow {
  const [preview, type, eventMs, body, headers, lastMs, keepMs, attempts, receipts, result, error] =
    row.slice(3);
  return {
    ...knownOf(row),
    tenant,
    source,
    id,
    idPreview: preview ?? undefined,
    type: type ?? "",
    eventAt: instantOf(eventMs),
    body: bytesOf(body),
    headers: headers ?? "",
    lastReceivedAt: new Date(Number(lastMs)),
    keepUntil: instantOf(keepMs),
    attempts: Number(attempts),
    receipts: Number(receipts),
    result: result ?? undefined,
    error: error ?? undefined,
  };
}

export function keyParams({ tenant, source, id }: InboxKey): Parameter[] {
  return [tenant, source, id];
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

/** One row with an arrival's values and the time it is: `now()` would be the time at which the transaction began. */
export const ARRIVAL = `
  select $1::text as tenant, $2::text as source, $3::text as event_id, $4::text as id_preview, $5::text as type,
    to_timestamp($6::text::float8 / 1000) as event_at, $8::text as headers, $9::bytea as body_hash, $10::bytea as body,
    clock.at, clock.at + make_interval(secs => $7::text::float8) as keep_until
  from (select clock_timestamp() as at) as clock`;

/**
 * Tries the lock that whoever writes an event's row takes first, and holds to the end of its transaction. Never
 * waited for: 200 duplicates of a slow handler would wait on 200 connections.
 */
export function tryLock(inbox: string): string {
  const seed = `'${inbox}'::regclass::oid::int8`;
  const key = `hashtextextended($3::text, hashtextextended($2::text, hashtextextended($1::text, ${seed})))`;
  return `pg_try_advisory_xact_lock(${key})`;
}

function bytesOf(hex: string | null | undefined): Uint8Array {
  return bytesOfHex(hex ?? "");
}

function instantOf(ms: string | null | undefined): Date | undefined {
  return typeof ms === "string" ? new Date(Number(ms)) : undefined;
}
