import type { EventFilter, EventSummary, StoredEvent } from "../../../../operator/lookup-store.js";
import { numberOfCursor } from "../../../../operator/cursor.js";
import { MOST_TENANTS } from "../../../../operator/view-store.js";
import type { Page, Paged } from "../../../../operator/operator-store.js";
import type { SqliteClient } from "../../client/client.js";
import { plainBytes } from "../../client/client.js";
import { writtenBound } from "./written-bound.js";
import { withoutNul } from "../../inbox/inbox-row.js";

// How many events one page looks at, so that a type which nobody publishes does not block the event loop; a page that
// finds none says where to go on.
const LOOKED_AT = 20_000;
const NEWEST = 2n ** 63n - 1n;

const COLUMNS = `e.id, e.public_id, e.tenant, e.source, e.type, e.key, e.content_type, e.event_at, e.expires_at, e.deliver_at,
  length(e.body) as bytes, e.direction, e.written_at, e.provider_id, e.verified_by, e.caused_by`;

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
  readonly direction: "in" | "out";
  readonly written_at: bigint;
  readonly provider_id: string | null;
  readonly verified_by: string | null;
  readonly caused_by: string | null;
}

/** Published events, newest first. */
export function findEvents(client: SqliteClient, filter: EventFilter, page: Page): Paged<EventSummary> {
  const { tenant, key, since, until } = filter;
  const cursor = numberOfCursor(page.after) ?? NEWEST;
  const end = until === undefined ? NEWEST : writtenBound(client, until);
  const first = since === undefined ? 0n : writtenBound(client, since);
  const span = { first, before: cursor < end ? cursor : end, limit: page.limit };
  return tenant === undefined || key === undefined
    ? readOn(client, filter, span)
    : ofKey(client, { ...filter, tenant, key }, span);
}

interface Span {
  /** The lowest number that is wanted. */
  readonly first: bigint;
  /** Events of lower numbers are wanted. */
  readonly before: bigint;
  readonly limit: number;
}

function ofKey(
  client: SqliteClient,
  { tenant, key, source, type }: EventFilter & { readonly tenant: string; readonly key: string },
  { first, before, limit }: Span,
): Paged<EventSummary> {
  const rows = client.allWide(
    // By name: SQLite might as well read all events backwards, for the sake of their order.
    `select ${COLUMNS} from posthorn_event e indexed by posthorn_event_key
     where e.tenant = ? and e.key = ? and e.id < ? and e.id >= ? and (? is null or e.source = ?)
       and (? is null or e.type = ?)
     order by e.id desc limit +?`,
    withoutNul(tenant),
    withoutNul(key),
    before,
    first,
    ...twice(source),
    ...twice(type),
    limit + 1,
  ) as EventColumns[];
  const items = rows.slice(0, limit);
  return { items: items.map(summaryOf), next: rows.length > limit ? String(items.at(-1)?.id) : undefined };
}

/** Without an index that fits: looks at so many events, whether they are wanted or not. */
function readOn(
  client: SqliteClient,
  filter: EventFilter,
  { first, before, limit }: Span,
): Paged<EventSummary> {
  const end = client.getWide(
    "select id from posthorn_event where id < ? and id >= ? order by id desc limit 1 offset +?",
    before,
    first,
    LOOKED_AT,
  ) as { id: bigint } | undefined;
  const rows = client.allWide(
    `select ${COLUMNS} from posthorn_event e
     where e.id < ? and e.id > ? and (? is null or e.tenant = ?) and (? is null or e.source = ?)
       and (? is null or e.type = ?) and (? is null or e.key = ?)
     order by e.id desc limit +?`,
    before,
    end?.id ?? first - 1n,
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
    direction: row.direction,
    writtenAt: new Date(Number(row.written_at)),
    providerId: row.provider_id ?? undefined,
    verifiedBy: row.verified_by ?? undefined,
    causedBy: row.caused_by ?? undefined,
    deliverAt: instant(row.deliver_at),
    expiresAt: instant(row.expires_at),
  };
}

function instant(ms: bigint | null): Date | undefined {
  return ms === null ? undefined : new Date(Number(ms));
}

/** Ids that begin with a text, the last in their order first. Generated ids begin with their time. */
export function findEventIds(
  client: SqliteClient,
  tenant: string,
  { prefix, limit }: { readonly prefix: string; readonly limit: number },
): readonly string[] {
  const rows = client.allWide(
    `select public_id from posthorn_event indexed by posthorn_event_public_id
     where public_id >= ? and public_id < ? and tenant = ? order by public_id desc limit +?`,
    prefix,
    // Ids are visible ASCII: this character comes after all of theirs.
    `${prefix}\u007f`,
    withoutNul(tenant),
    limit,
  ) as { public_id: string }[];
  return rows.map(({ public_id }) => public_id);
}

/** The tenants that have an event of this id. */
export function readTenants(client: SqliteClient, eventId: string): readonly string[] {
  const rows = client.allWide(
    `select distinct tenant from posthorn_event indexed by posthorn_event_public_id
     where public_id = ? order by tenant limit +?`,
    withoutNul(eventId),
    MOST_TENANTS,
  ) as { tenant: string }[];
  return rows.map(({ tenant }) => tenant);
}
