import type { EventFilter, EventSummary, StoredEvent } from "../../../operator/lookup-store.js";
import type { Page, Paged } from "../../../operator/operator-store.js";
import { bigint, bytes, columns, instant, number, optional, text } from "../client/columns.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { headersOf } from "../lanes/lane-row.js";
import { sqlFor } from "../schema/tables.js";

// How far one call looks for what a filter lets through: about a fifth of a second.
const MAX_LOOKED_AT = 1_000_000n;

interface SummaryValues extends EventSummary {
  readonly row: string;
}

const SUMMARY = columns<SummaryValues>({
  row: text("event.id::text"),
  id: text("public_id"),
  tenant: text("tenant"),
  source: text("source"),
  type: text("type"),
  key: optional(text("key")),
  time: instant("event_at"),
  contentType: text("content_type"),
  bodyBytes: number("octet_length(body)"),
  deliverAt: optional(instant("deliver_at")),
  expiresAt: optional(instant("expires_at")),
});

/**
 * Lists events, newest first. Of events that a filter leaves out it looks at a million at most: a page of something rare
 * may hold fewer than it could, or none, and still say where the next one begins.
 */
export async function listEvents(
  { transactions, tables }: StoreDatabase,
  filter: EventFilter,
  { limit, after = "" }: Page,
): Promise<Paged<EventSummary>> {
  const { oldest, newest } = await readEnds({ transactions, tables });
  const before = /^\d{1,18}$/.test(after) ? BigInt(after) : newest + 1n;
  const from = before > MAX_LOOKED_AT ? before - MAX_LOOKED_AT : 0n;
  const { tenant = null, source = null, type = null, key = null } = filter;
  const rows = await transactions.readKept({
    text: PAGE(tables),
    params: [String(from), String(before), tenant, source, type, key, String(limit + 1)],
  });
  const listed = rows.slice(0, limit).map((row) => SUMMARY.read(row));
  const last = rows.length > limit ? listed.at(-1)?.row : undefined;
  return {
    items: listed.map(({ row: _row, ...summary }) => summary),
    next: last ?? (from > oldest ? String(from) : undefined),
  };
}

interface Ends {
  readonly oldest: bigint;
  readonly newest: bigint;
}

const ENDS = columns<Ends>({
  oldest: bigint("coalesce(min(id), 0)"),
  newest: bigint("coalesce(max(id), 0)"),
});

async function readEnds({ transactions, tables }: StoreDatabase): Promise<Ends> {
  const { rows } = await transactions.read({ text: `select ${ENDS.list} from ${tables.event}`, params: [] });
  return ENDS.read(rows[0] ?? []);
}

// The filter looks at the index alone, which has all that it needs; the rows are read of those that it lets through.
const PAGE = sqlFor(
  ({ event }) => `
    with found as materialized (
      select id from ${event}
      where id >= $1::text::int8 and id < $2::text::int8
        and ($3::text is null or tenant = $3::text) and ($4::text is null or source = $4::text)
        and ($5::text is null or type = $5::text) and ($6::text is null or key = $6::text)
      order by id desc limit $7::text::int8
    )
    select ${SUMMARY.list} from found join ${event} as event on event.id = found.id order by found.id desc`,
);

const CONTENT = columns<{ readonly headers: string | undefined; readonly body: Uint8Array }>({
  headers: optional(text("headers")),
  body: bytes("body"),
});

/** An event with its bytes. */
export async function readEvent(
  { transactions, tables }: StoreDatabase,
  tenant: string,
  id: string,
): Promise<StoredEvent | undefined> {
  const [row] = await transactions.readKept({ text: READ(tables), params: [tenant, id] });
  if (row === undefined) return undefined;
  const { row: _row, ...summary } = SUMMARY.read(row);
  const { headers, body } = CONTENT.read(row, SUMMARY.size);
  return { ...summary, headers: headers === undefined ? {} : headersOf(headers), body };
}

// Found by its id first: asked for the newest, Postgres would walk the table from its end.
const READ = sqlFor(
  ({ event }) => `
    with found as materialized (
      select id from ${event} where public_id = $2::text and tenant = $1::text
    )
    select ${SUMMARY.list}, ${CONTENT.list} from ${event} as event where event.id = (select max(id) from found)`,
);
