import type { EventFilter, EventSummary, StoredEvent } from "../../../operator/lookup-store.js";
import type { Page, Paged } from "../../../operator/operator-store.js";
import { headersOf } from "../lanes/locked-rows.js";
import type { Row } from "../client/database.js";
import { millisecondsOf } from "../inbox/inbox-row.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import type { OwnTransactions } from "../client/own-transaction.js";
import { bytesOfHex } from "../client/hex-column.js";

// How far one call looks for what a filter lets through: about a fifth of a second.
const MAX_LOOKED_AT = 1_000_000n;

/**
 * Lists events, newest first. Of events that a filter leaves out it looks at a million at most: a page of something rare
 * may hold fewer than it could, or none, and still say where the next one begins.
 */
export async function listEvents(
  transactions: OwnTransactions,
  { filter, page }: { readonly filter: EventFilter; readonly page: Page },
  tables: OutboxTables,
): Promise<Paged<EventSummary>> {
  const { limit, after = "" } = page;
  const { oldest, newest } = await readEnds(transactions, tables);
  const before = /^\d{1,18}$/.test(after) ? BigInt(after) : newest + 1n;
  const from = before > MAX_LOOKED_AT ? before - MAX_LOOKED_AT : 0n;
  const first = {
    text: pageSql(tables),
    params: [
      String(from),
      String(before),
      filter.tenant ?? null,
      filter.source ?? null,
      filter.type ?? null,
      filter.key ?? null,
      String(limit + 1),
    ],
    prepared: true,
  };
  const rows = await transactions.runFrom(first, (_scope, answer) => Promise.resolve(answer.rows));
  const listed = rows.slice(0, limit);
  const last = rows.length > limit ? listed.at(-1)?.[0] : undefined;
  return { items: listed.map(summaryOf), next: last ?? (from > oldest ? String(from) : undefined) };
}

async function readEnds(
  transactions: OwnTransactions,
  { event }: OutboxTables,
): Promise<{ oldest: bigint; newest: bigint }> {
  const { rows } = await transactions.read({
    text: `select coalesce(min(id), 0)::text, coalesce(max(id), 0)::text from ${event}`,
    params: [],
  });
  const [oldest, newest] = rows[0] ?? [];
  return { oldest: BigInt(oldest ?? 0), newest: BigInt(newest ?? 0) };
}

const SUMMARY = `event.id::text, public_id, tenant, source, type, key, ${millisecondsOf("event_at")}, content_type,
      octet_length(body)::text, ${millisecondsOf("deliver_at")}, ${millisecondsOf("expires_at")}`;

// The filter looks at the index alone, which has all that it needs; the rows are read of those that it lets through.
function pageSql({ event }: OutboxTables): string {
  return `
    with found as materialized (
      select id from ${event}
      where id >= $1::text::int8 and id < $2::text::int8
        and ($3::text is null or tenant = $3::text) and ($4::text is null or source = $4::text)
        and ($5::text is null or type = $5::text) and ($6::text is null or key = $6::text)
      order by id desc limit $7::text::int8
    )
    select ${SUMMARY} from found join ${event} as event on event.id = found.id order by found.id desc`;
}

function summaryOf(row: Row): EventSummary {
  const [, id, tenant, source, type, key, timeMs, contentType, bodyBytes, deliverMs, expiresMs] = row;
  return {
    id: id ?? "",
    tenant: tenant ?? "",
    source: source ?? "",
    type: type ?? "",
    key: key ?? undefined,
    time: new Date(Number(timeMs)),
    contentType: contentType ?? "",
    bodyBytes: Number(bodyBytes),
    deliverAt: dateOf(deliverMs),
    expiresAt: dateOf(expiresMs),
  };
}

function dateOf(ms: Row[number]): Date | undefined {
  return typeof ms === "string" ? new Date(Number(ms)) : undefined;
}

/** An event with its bytes. Found by its id first: asked for the newest, Postgres would walk the table from its end. */
export async function readEvent(
  transactions: OwnTransactions,
  { tenant, id }: { readonly tenant: string; readonly id: string },
  { event }: OutboxTables,
): Promise<StoredEvent | undefined> {
  const first = {
    text: `
      with found as materialized (
        select id from ${event} where public_id = $2::text and tenant = $1::text
      )
      select ${SUMMARY}, headers, encode(body, 'hex')
      from ${event} as event where event.id = (select max(id) from found)`,
    params: [tenant, id],
    prepared: true,
  };
  const [row] = await transactions.runFrom(first, (_scope, { rows }) => Promise.resolve(rows));
  if (row === undefined) return undefined;
  const [headers, body] = row.slice(SUMMARY_COLUMNS);
  return {
    ...summaryOf(row),
    headers: typeof headers === "string" ? headersOf(headers) : {},
    body: bytesOfHex(body ?? ""),
  };
}

const SUMMARY_COLUMNS = 11;
