import type { InboxOutcome } from "../../../../inbox/inbox-store.js";
import {
  byAddress,
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
import { bigint, columns, instant, number, optional, text } from "../../client/columns.js";
import type { Row } from "../../client/database.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import { storedEventSql } from "../../inbox/inbox-row.js";
import { sqlFor } from "../../schema/tables.js";
import type { Tables } from "../../schema/tables.js";
import { Parameters } from "./dead-filter.js";

// How many rows one page looks at for those that a filter lets through: about a tenth of a second.
const LOOKED_AT = 50_000;

interface RowValues extends InboxRecord {
  /** To the microsecond: rows of one run lie one apart, in the order of their handlers. */
  readonly at: bigint;
}

const ROW = columns<Omit<RowValues, "bodyBytes">>({
  at: bigint("(extract(epoch from received_at) * 1000000)::int8"),
  tenant: text("tenant"),
  source: text("source"),
  id: text("event_id"),
  consumer: text("consumer"),
  idPreview: optional(text("id_preview")),
  type: text("type"),
  eventAt: optional(instant("event_at")),
  outcome: text<InboxOutcome>("outcome"),
  round: number("round"),
  attempts: number("attempts"),
  receipts: number("receipts"),
  receivedAt: instant("received_at"),
  lastReceivedAt: instant("last_received_at"),
  keepUntil: optional(instant("keep_until")),
  storedAs: optional(text("stored_as")),
  result: optional(text("result")),
  error: optional(text("error")),
});

// The payload of an event that was stored first lies with the stored event.
const ROWS = sqlFor(
  (tables) => `
      select ${ROW.list}, coalesce(
        octet_length(body),
        (select octet_length(stored.body) from (${storedEventSql(tables, "known")}) as stored),
        0
      )::text as "bodyBytes"
      from ${tables.inbox} as known`,
);

function valuesOf(row: Row): RowValues {
  return { ...ROW.read(row), bodyBytes: Number(row[ROW.size]) };
}

/** Rows by the time of their first receipt. */
export async function listInboxRows(
  { transactions, tables }: StoreDatabase,
  filter: InboxFilter,
  { limit, after }: Page,
): Promise<Paged<InboxRecord>> {
  const from = inboxSpotOf(after, byAddress);
  const end = isFiltered(filter) ? await lookedUpTo({ transactions, tables }, filter, from) : undefined;
  const params = new Parameters();
  const conditions = [...spanConditions(filter, from, params), ...fieldConditions(filter, params)];
  const oldest = filter.order === "oldest";
  if (end !== undefined) conditions.push(`received_at ${oldest ? "<" : ">"} ${momentSql(end, params)}`);
  const order = ["received_at", "event_id", "source", "tenant", "consumer"].map((name) =>
    oldest ? name : `${name} desc`,
  );
  const { rows } = await transactions.read({
    text: `
      ${ROWS(tables)} ${whereSql(conditions)}
      order by ${order.join(", ")} limit ${params.add(String(limit + 1), "int8")}`,
    params: params.values,
  });
  const listed = rows.slice(0, limit).map(valuesOf);
  const last = listed.at(-1);
  return {
    items: listed.map(recordOf),
    next:
      rows.length > limit && last !== undefined
        ? inboxCursorOf({ at: last.at, row: [last.id, last.source, last.tenant, last.consumer] })
        : end === undefined
          ? undefined
          : inboxCursorOf({ at: end, row: undefined }),
  };
}

/** The time up to which one page looks; undefined where that is all there is. By the index of times alone. */
async function lookedUpTo(
  { transactions, tables }: StoreDatabase,
  filter: InboxFilter,
  from: InboxSpot | undefined,
): Promise<bigint | undefined> {
  const params = new Parameters();
  const conditions = spanConditions(filter, from && { at: from.at, row: undefined }, params);
  const { rows } = await transactions.read({
    text: `
      select (extract(epoch from received_at) * 1000000)::int8::text as at from ${tables.inbox}
      ${whereSql(conditions)} order by received_at ${filter.order === "oldest" ? "" : "desc"}
      limit 1 offset ${params.add(String(LOOKED_AT), "int8")}`,
    params: params.values,
  });
  const [at] = rows[0] ?? [];
  // All rows of one time: the next page would begin where this one did.
  return typeof at !== "string" || BigInt(at) === from?.at ? undefined : BigInt(at);
}

function isFiltered({ tenant, source, consumer, type, outcome }: InboxFilter): boolean {
  return [tenant, source, consumer, type, outcome].some((wanted) => wanted !== undefined);
}

function isUnwell(outcome: InboxOutcome | undefined): boolean {
  return outcome !== undefined && outcome !== "success" && outcome !== "skipped";
}

/** What an index serves: times, where the last page ended, and what is not well. */
function spanConditions(filter: InboxFilter, from: InboxSpot | undefined, params: Parameters): string[] {
  const { since, until, outcome, order } = filter;
  const past = order === "oldest" ? ">" : "<";
  const names = "received_at, event_id, source, tenant, consumer";
  const spot = (): string => {
    if (from?.row === undefined) return `received_at ${past}= ${momentSql(from?.at ?? 0n, params)}`;
    const texts = from.row.map((each) => params.add(each, "text"));
    return `(${names}) ${past} (${[momentSql(from.at, params), ...texts].join(", ")})`;
  };
  return [
    ...(isUnwell(outcome)
      ? [`outcome = ${params.add(outcome ?? "", "text")} and outcome not in ('success', 'skipped')`]
      : []),
    ...(since === undefined ? [] : [`received_at >= ${params.add(since.toISOString(), "timestamptz")}`]),
    ...(until === undefined ? [] : [`received_at < ${params.add(until.toISOString(), "timestamptz")}`]),
    ...(from === undefined ? [] : [spot()]),
  ];
}

function fieldConditions(filter: InboxFilter, params: Parameters): string[] {
  const { tenant, source, consumer, type, outcome } = filter;
  const fields = { tenant, source, consumer, type, outcome: isUnwell(outcome) ? undefined : outcome };
  return Object.entries(fields).flatMap(([name, wanted]) =>
    wanted === undefined ? [] : [`${name} = ${params.add(wanted, "text")}`],
  );
}

function momentSql(at: bigint, params: Parameters): string {
  return `(timestamptz 'epoch' + ${params.add(String(at), "int8")} * interval '1 microsecond')`;
}

function whereSql(conditions: readonly string[]): string {
  return conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`;
}

/** Rows whose ids begin with a text, by the key of the inbox. */
export async function listInboxByPrefix(
  { transactions, tables }: StoreDatabase,
  { tenant, source, prefix }: InboxPrefix,
  { limit, after }: Page,
): Promise<Paged<InboxRecord>> {
  const from = keyOfCursor(after, 2);
  const { rows } = await transactions.read({
    text: `
      ${ROWS(tables)}
      where tenant = $1::text and source = $2::text and event_id >= $3::text collate "C"
        and event_id < $4::text collate "C"${from === undefined ? "" : " and (event_id, consumer) > ($6::text, $7::text)"}
      order by event_id, consumer limit $5::text::int8`,
    // Ids are visible ASCII: this character comes after all of theirs.
    params: [tenant, source, prefix, `${prefix}\u007f`, String(limit + 1), ...(from ?? [])],
  });
  const listed = rows.slice(0, limit).map(valuesOf);
  const last = rows.length > limit ? listed.at(-1) : undefined;
  return { items: listed.map(recordOf), next: last && keyCursorOf([last.id, last.consumer]) };
}

/** The rows of one event. */
export async function readInboxRows(
  { transactions, tables }: StoreDatabase,
  { tenant, source, id }: Omit<InboxAddress, "consumer">,
): Promise<readonly InboxRecord[]> {
  const { rows } = await transactions.read({
    text: `${ROWS(tables)} where ${ofEvent()} order by consumer`,
    params: [tenant, source, id],
  });
  return rows.map((row) => recordOf(valuesOf(row)));
}

function ofEvent(): string {
  return "tenant = $1::text and source = $2::text and event_id = $3::text";
}

function recordOf({ at: _at, ...row }: RowValues): InboxRecord {
  return row;
}

const FAILURE = columns<InboxFailure>({
  round: number("round"),
  attempt: number("attempt"),
  failedAt: instant("failed_at"),
  error: text("error"),
  fingerprint: optional(text("fingerprint")),
});

/** The failures of a handler that ran within its request. */
export async function readInboxFailures(
  { transactions, tables }: { readonly transactions: StoreDatabase["transactions"]; readonly tables: Tables },
  { tenant, source, id, consumer }: InboxAddress,
): Promise<readonly InboxFailure[]> {
  const { rows } = await transactions.read({
    text: `
      select ${FAILURE.list} from ${tables.inboxAttempt} as failed
      where ${ofEvent()} and consumer = $4::text order by failed.round, failed.attempt`,
    params: [tenant, source, id, consumer],
  });
  return rows.map((row) => FAILURE.read(row));
}
