import type { EventFilter, EventSummary, StoredEvent } from "../../../operator/lookup-store.js";
import type { Page, Paged } from "../../../operator/operator-store.js";
import type { SqliteClient } from "../client/client.js";
import { plainBytes } from "../client/client.js";
import { withoutNul } from "../inbox/inbox-row.js";

// How many events one page looks at, so that a type which nobody publishes does not block the event loop; a page that
// finds none says where to go on.
const LOOKED_AT = 20_000;
const NEWEST = 2n ** 63n - 1n;

const COLUMNS = `e.id, e.public_id, e.tenant, e.source, e.type, e.key, e.content_type, e.event_at, e.expires_at, e.deliver_at,
  length(e.body) as bytes`;

interface EventColumns {
  readonly id: bigint;
  readonly public_id: string;
  readonly tenant: string;
  readonly source: string;
  readonly type: string;
  readonly key: string | null;
  readonly content_type: string;
  readonly event_at: bigint;
  readonly expires_at: bigint | null;
  readonly deliver_at: bigint | null;
  readonly bytes: bigint;
}

/** Published events, newest first. */
export function findEvents(client: SqliteClient, filter: EventFilter, page: Page): Paged<EventSummary> {
  const before = page.after !== undefined && /^\d{1,18}$/.test(page.after) ? BigInt(page.after) : NEWEST;
  const { tenant, key } = filter;
  return tenant === undefined || key === undefined
    ? readOn(client, filter, { before, limit: page.limit })
    : ofKey(client, { ...filter, tenant, key }, { before, limit: page.limit });
}

interface Span {
  /** Events of lower numbers are wanted. */
  readonly before: bigint;
  readonly limit: number;
}

function ofKey(
  client: SqliteClient,
  { tenant, key, source, type }: EventFilter & { readonly tenant: string; readonly key: string },
  { before, limit }: Span,
): Paged<EventSummary> {
  const rows = client.allWide(
    // By name: SQLite might as well read all events backwards, for the sake of their order.
    `select ${COLUMNS} from posthorn_event e indexed by posthorn_event_key
     where e.tenant = ? and e.key = ? and e.id < ? and (? is null or e.source = ?) and (? is null or e.type = ?)
     order by e.id desc limit +?`,
    withoutNul(tenant),
    withoutNul(key),
    before,
    ...twice(source),
    ...twice(type),
    limit + 1,
  ) as EventColumns[];
  const items = rows.slice(0, limit);
  return { items: items.map(summaryOf), next: rows.length > limit ? String(items.at(-1)?.id) : undefined };
}

/** Without an index that fits: looks at so many events, whether they are wanted or not. */
function readOn(client: SqliteClient, filter: EventFilter, { before, limit }: Span): Paged<EventSummary> {
  const end = client.getWide(
    "select id from posthorn_event where id < ? order by id desc limit 1 offset +?",
    before,
    LOOKED_AT,
  ) as { id: bigint } | undefined;
  const rows = client.allWide(
    `select ${COLUMNS} from posthorn_event e
     where e.id < ? and e.id > ? and (? is null or e.tenant = ?) and (? is null or e.source = ?)
       and (? is null or e.type = ?) and (? is null or e.key = ?)
     order by e.id desc limit +?`,
    before,
    end?.id ?? -1n,
    ...twice(filter.tenant),
    ...twice(filter.source),
    ...twice(filter.type),
    ...twice(filter.key),
    limit + 1,
  ) as EventColumns[];
  const items = rows.slice(0, limit);
  // What was looked at was at least that number; the next page begins with it.
  const lookedUpTo = end === undefined ? undefined : String(end.id + 1n);
  return { items: items.map(summaryOf), next: rows.length > limit ? String(items.at(-1)?.id) : lookedUpTo };
}

function twice(wanted: string | undefined): [string | null, string | null] {
  const value = wanted === undefined ? null : withoutNul(wanted);
  return [value, value];
}

/** An event with its bytes; undefined where the tenant has published none of this id. */
export function readEvent(client: SqliteClient, tenant: string, id: string): StoredEvent | undefined {
  const row = client.getWide(
    `select ${COLUMNS}, e.body, e.headers from posthorn_event e indexed by posthorn_event_public_id
     where e.public_id = ? and e.tenant = ? order by e.id desc limit 1`,
    id,
    withoutNul(tenant),
  ) as (EventColumns & { readonly body: Uint8Array; readonly headers: string | null }) | undefined;
  if (row === undefined) return undefined;
  const headers = JSON.parse(row.headers ?? "{}") as Record<string, string>;
  return { ...summaryOf(row), body: plainBytes(row.body), headers };
}

function summaryOf(row: EventColumns): EventSummary {
  return {
    id: row.public_id,
    tenant: row.tenant,
    source: row.source,
    type: row.type,
    key: row.key ?? undefined,
    time: new Date(Number(row.event_at)),
    contentType: row.content_type,
    bodyBytes: Number(row.bytes),
    deliverAt: instant(row.deliver_at),
    expiresAt: instant(row.expires_at),
  };
}

function instant(ms: bigint | null): Date | undefined {
  return ms === null ? undefined : new Date(Number(ms));
}
