import type { EventFilter, EventSummary, StoredEvent } from "../../../../operator/lookup-store.js";
import { numberOfCursor } from "../../../../operator/cursor.js";
import { MOST_TENANTS } from "../../../../operator/view-store.js";
import type { Page, Paged } from "../../../../operator/operator-store.js";
import { bigint, bytes, columns, instant, number, optional, text } from "../../client/columns.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import { headersOf } from "../../lanes/lane-row.js";
import { sqlFor } from "../../schema/tables.js";
import { writtenBound } from "./written-bound.js";

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
  direction: text("direction"),
  writtenAt: instant("written_at"),
  providerId: optional(text("provider_id")),
  verifiedBy: optional(text("verified_by")),
  causedBy: optional(text("caused_by")),
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
  { limit, after }: Page,
): Promise<Paged<EventSummary>> {
  const cursor = numberOfCursor(after);
  const { oldest, newest } = await readEnds({ transactions, tables });
  const [first, end] = await readSpan({ transactions, tables }, filter, { oldest, newest });
  const before = cursor === undefined || cursor > end ? end : cursor;
  const from = before > MAX_LOOKED_AT + first ? before - MAX_LOOKED_AT : first;
  const { tenant = null, source = null, type = null, key = null } = filter;
  const rows = await transactions.readKept({
    text: PAGE(tables),
    params: [String(from), String(before), tenant, source, type, key, String(limit + 1)],
  });
  const listed = rows.slice(0, limit).map((row) => SUMMARY.read(row));
  const last = rows.length > limit ? listed.at(-1)?.row : undefined;
  return {
    items: listed.map(({ row: _row, ...summary }) => summary),
    next: last ?? (from > first ? String(from) : undefined),
  };
}

/** The first number that is wanted, and the one after the last. */
async function readSpan(
  database: StoreDatabase,
  { since, until }: EventFilter,
  { oldest, newest }: Ends,
): Promise<readonly [bigint, bigint]> {
  const [first, end] = await Promise.all([
    since === undefined ? oldest : writtenBound(database, since),
    until === undefined ? newest + 1n : writtenBound(database, until),
  ]);
  return [first, end];
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

const ID = columns<{ readonly id: string }>({ id: text("public_id") });

/** Ids that begin with a text, the last in their order first. Generated ids begin with their time. */
export async function listEventIds(
  { transactions, tables }: StoreDatabase,
  tenant: string,
  { prefix, limit }: { readonly prefix: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await transactions.readKept({
    text: IDS(tables),
    // Ids are visible ASCII: this character comes after all of theirs.
    params: [tenant, prefix, `${prefix}\u007f`, String(limit)],
  });
  return rows.map((row) => ID.read(row).id);
}

const IDS = sqlFor(
  ({ event }) => `
    select ${ID.list} from ${event}
    where public_id >= $2::text collate "C" and public_id < $3::text collate "C" and tenant = $1::text
    order by public_id desc limit $4::text::int8`,
);

const TENANT = columns<{ readonly tenant: string }>({ tenant: text("tenant") });

/** The tenants that have an event of this id. */
export async function readTenants(
  { transactions, tables }: StoreDatabase,
  eventId: string,
): Promise<readonly string[]> {
  const rows = await transactions.readKept({
    text: TENANTS(tables),
    params: [eventId, String(MOST_TENANTS)],
  });
  return rows.map((row) => TENANT.read(row).tenant);
}

const TENANTS = sqlFor(
  ({ event }) => `
    select ${TENANT.list} from (select distinct tenant from ${event} where public_id = $1::text) as found
    order by tenant collate "C" limit $2::text::int8`,
);
