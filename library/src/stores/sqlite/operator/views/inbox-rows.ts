import type { InboxOutcome } from "../../../../inbox/inbox-store.js";
import {
  byNumber,
  inboxCursorOf,
  inboxSpotOf,
  keyCursorOf,
  keyOfCursor,
} from "../../../../operator/inbox-cursor.js";
import type { InboxSpot } from "../../../../operator/inbox-cursor.js";
import type {
  InboxAddress,
  InboxFailure,
  InboxFilter,
  InboxPrefix,
  InboxRecord,
} from "../../../../operator/inbox-view-store.js";
import type { Page, Paged } from "../../../../operator/operator-store.js";
import type { SqliteClient, SqliteValue } from "../../client/client.js";

// How many rows one page looks at for those that a filter lets through: more would block the event loop.
const LOOKED_AT = 10_000;

const COLUMNS = `rowid as number, tenant, source, event_id, consumer, id_preview, type, event_at, outcome, round, attempts, receipts,
  received_at, last_received_at, keep_until, stored_as, result, error, coalesce(length(body), (
    select length(e.body) from posthorn_event e indexed by posthorn_event_public_id
    where e.public_id = stored_as and e.tenant = posthorn_inbox.tenant order by e.id desc limit 1
  ), 0) as bytes`;

interface RowColumns {
  /** Rows of one group have the same millisecond: their numbers have the order in which they were handled. */
  readonly number: number;
  readonly tenant: string;
  readonly source: string;
  readonly event_id: string;
  readonly consumer: string;
  readonly id_preview: string | null;
  readonly type: string;
  readonly event_at: number | null;
  readonly outcome: InboxOutcome;
  readonly round: number;
  readonly attempts: number;
  readonly receipts: number;
  readonly received_at: number;
  readonly last_received_at: number;
  readonly keep_until: number | null;
  readonly stored_as: string | null;
  readonly result: string | null;
  readonly error: string | null;
  readonly bytes: number;
}

/** Conditions, and their values. */
interface Range {
  readonly where: readonly string[];
  readonly values: readonly SqliteValue[];
}

/** Rows by the time of their first receipt. */
export function findInboxRows(
  client: SqliteClient,
  filter: InboxFilter,
  { limit, after }: Page,
): Paged<InboxRecord> {
  const from = inboxSpotOf(after, byNumber);
  const oldest = filter.order === "oldest";
  const end = isFiltered(filter) ? lookedUpTo(client, filter, from) : undefined;
  const [span, fields] = [spanOf(filter, from), fieldsOf(filter)];
  const bound: Range =
    end === undefined
      ? { where: [], values: [] }
      : { where: [`received_at ${oldest ? "<" : ">"} ?`], values: [end] };
  const where = [...span.where, ...fields.where, ...bound.where];
  const way = oldest ? "asc" : "desc";
  const rows = client.all(
    `select ${COLUMNS} from posthorn_inbox ${indexFor(filter)} where ${where.join(" and ")}
     order by received_at ${way}, rowid ${way} limit +?`,
    ...span.values,
    ...fields.values,
    ...bound.values,
    limit + 1,
  ) as RowColumns[];
  const items = rows.slice(0, limit).map(recordOf);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  if (last !== undefined)
    return { items, next: inboxCursorOf({ at: BigInt(last.received_at), row: [String(last.number)] }) };
  return {
    items,
    next: end === undefined ? undefined : inboxCursorOf({ at: BigInt(end), row: undefined }),
  };
}

/** The time up to which one page looks; undefined where that is all there is. */
function lookedUpTo(
  client: SqliteClient,
  filter: InboxFilter,
  from: InboxSpot | undefined,
): number | undefined {
  const { where, values } = spanOf(filter, from && { at: from.at, row: undefined });
  const row = client.get(
    `select received_at from posthorn_inbox ${indexFor(filter)} where ${where.join(" and ")}
     order by received_at ${filter.order === "oldest" ? "asc" : "desc"} limit 1 offset +?`,
    ...values,
    LOOKED_AT,
  ) as { received_at: number } | undefined;
  // All rows of one time: the next page would begin where this one did.
  return row === undefined || BigInt(row.received_at) === from?.at ? undefined : row.received_at;
}

function isFiltered({ tenant, source, consumer, type, outcome }: InboxFilter): boolean {
  return [tenant, source, consumer, type, outcome].some((wanted) => wanted !== undefined);
}

function isUnwell(outcome: InboxOutcome | undefined): boolean {
  return outcome !== undefined && outcome !== "success" && outcome !== "skipped";
}

// By name: for the sake of an order, SQLite might walk over all that is well.
function indexFor({ outcome }: InboxFilter): string {
  return `indexed by posthorn_inbox_${isUnwell(outcome) ? "unwell" : "received_at"}`;
}

/** What an index serves: times, where the last page ended, and what is not well. */
function spanOf({ since, until, outcome, order }: InboxFilter, from: InboxSpot | undefined): Range {
  const past = order === "oldest" ? ">" : "<";
  const parts: { readonly where: string; readonly values: readonly SqliteValue[] }[] = [
    { where: "received_at >= ?", values: [since?.getTime() ?? 0] },
  ];
  if (isUnwell(outcome))
    parts.push({ where: "outcome = ? and outcome not in ('success', 'skipped')", values: [outcome ?? ""] });
  if (until !== undefined) parts.push({ where: "received_at < ?", values: [until.getTime()] });
  if (from?.row !== undefined) {
    parts.push({
      where: `(received_at, rowid) ${past} (?, ?)`,
      values: [Number(from.at), Number(from.row[0])],
    });
  } else if (from !== undefined) parts.push({ where: `received_at ${past}= ?`, values: [Number(from.at)] });
  return { where: parts.map(({ where }) => where), values: parts.flatMap(({ values }) => values) };
}

function fieldsOf({ tenant, source, consumer, type, outcome }: InboxFilter): Range {
  const fields = { tenant, source, consumer, type, outcome: isUnwell(outcome) ? undefined : outcome };
  const wanted = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { where: wanted.map(([name]) => `${name} = ?`), values: wanted.map(([, value]) => value ?? null) };
}

/** Rows whose ids begin with a text, by the key of the inbox. */
export function findInboxByPrefix(
  client: SqliteClient,
  { tenant, source, prefix }: InboxPrefix,
  { limit, after }: Page,
): Paged<InboxRecord> {
  const [id, consumer] = keyOfCursor(after, 2) ?? ["", ""];
  const rows = client.all(
    // Ids are visible ASCII: the character behind the prefix comes after all of theirs.
    `select ${COLUMNS} from posthorn_inbox
     where tenant = ? and source = ? and event_id >= ? and event_id < ? and (event_id, consumer) > (?, ?)
     order by event_id, consumer limit +?`,
    tenant,
    source,
    prefix,
    `${prefix}\u007f`,
    id ?? "",
    consumer ?? "",
    limit + 1,
  ) as RowColumns[];
  const items = rows.slice(0, limit).map(recordOf);
  const last = rows.length > limit ? items.at(-1) : undefined;
  return { items, next: last && keyCursorOf([last.id, last.consumer]) };
}

/** The rows of one event. */
export function readInboxRows(
  client: SqliteClient,
  { tenant, source, id }: Omit<InboxAddress, "consumer">,
): readonly InboxRecord[] {
  const rows = client.all(
    `select ${COLUMNS} from posthorn_inbox where tenant = ? and source = ? and event_id = ? order by consumer`,
    tenant,
    source,
    id,
  ) as RowColumns[];
  return rows.map(recordOf);
}

/** The failures of a handler that ran within its request. */
export function readInboxFailures(
  client: SqliteClient,
  { tenant, source, id, consumer }: InboxAddress,
): readonly InboxFailure[] {
  const rows = client.all(
    `select round, attempt, failed_at, error, fingerprint from posthorn_inbox_attempt
     where tenant = ? and source = ? and event_id = ? and consumer = ? order by round, attempt`,
    tenant,
    source,
    id,
    consumer,
  ) as { round: number; attempt: number; failed_at: number; error: string; fingerprint: string | null }[];
  return rows.map(({ round, attempt, failed_at, error, fingerprint }) => ({
    round,
    attempt,
    failedAt: new Date(failed_at),
    error,
    fingerprint: fingerprint ?? undefined,
  }));
}

function recordOf(row: RowColumns): InboxRecord {
  return {
    tenant: row.tenant,
    source: row.source,
    id: row.event_id,
    consumer: row.consumer,
    idPreview: row.id_preview ?? undefined,
    type: row.type,
    eventAt: instant(row.event_at),
    outcome: row.outcome,
    round: row.round,
    attempts: row.attempts,
    receipts: row.receipts,
    receivedAt: new Date(row.received_at),
    lastReceivedAt: new Date(row.last_received_at),
    keepUntil: instant(row.keep_until),
    storedAs: row.stored_as ?? undefined,
    result: row.result ?? undefined,
    error: row.error ?? undefined,
    bodyBytes: row.bytes,
  };
}

function instant(ms: number | null): Date | undefined {
  return ms === null ? undefined : new Date(ms);
}
