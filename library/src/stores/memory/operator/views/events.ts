import type { EventFilter, EventSummary, StoredEvent } from "../../../../operator/lookup-store.js";
import { numberOfCursor } from "../../../../operator/cursor.js";
import { directionOf } from "../../../../outbox/outgoing-event.js";
import { MOST_TENANTS } from "../../../../operator/view-store.js";
import type { Page, Paged } from "../../../../operator/operator-store.js";
import type { StoredEvent as EventRow } from "../../outbox/event-log.js";
import type { MemoryParts } from "../../parts.js";
import { pageOf } from "./page.js";

/** Newest first. */
export function events(
  { events: log }: MemoryParts,
  filter: EventFilter,
  { limit, after }: Page,
): Paged<EventSummary> {
  const cursor = numberOfCursor(after);
  const all = log.matching(filter);
  const rest = cursor === undefined ? all : all.filter(({ rowId }) => rowId < cursor);
  const page = pageOf(rest, limit, ({ rowId }) => String(rowId));
  return { ...page, items: page.items.map(summaryOf) };
}

/** The newest of its id, with its bytes. */
export function event({ events: log }: MemoryParts, tenant: string, id: string): StoredEvent | undefined {
  const found = log.find(tenant, id).at(-1);
  return found && { ...summaryOf(found), body: found.body.slice(), headers: { ...found.headers } };
}

function summaryOf(row: EventRow): EventSummary {
  const { id, tenant, source, type, key, time, contentType, body, deliverAt, expiresAt, origin } = row;
  return {
    id,
    tenant,
    source,
    type,
    key,
    time: new Date(time),
    contentType,
    bodyBytes: body.length,
    direction: directionOf(row),
    writtenAt: new Date(row.writtenAt),
    providerId: origin?.providerId,
    verifiedBy: origin?.verifiedBy,
    causedBy: row.causedBy,
    deliverAt: deliverAt && new Date(deliverAt),
    expiresAt: expiresAt && new Date(expiresAt),
  };
}

/** Ids that begin with a text, the last in their order first. */
export function findEventIds(
  { events: log }: MemoryParts,
  tenant: string,
  { prefix, limit }: { readonly prefix: string; readonly limit: number },
): readonly string[] {
  return log.idsOf(tenant, prefix).toSorted().toReversed().slice(0, limit);
}

/** The tenants that have an event of this id. */
export function readTenants({ events: log }: MemoryParts, eventId: string): readonly string[] {
  return log.tenantsOf(eventId).toSorted().slice(0, MOST_TENANTS);
}
