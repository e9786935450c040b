import type { EventFilter, EventSummary, StoredEvent } from "../../../operator/lookup-store.js";
import type { Page, Paged } from "../../../operator/operator-store.js";
import type { StoredEvent as EventRow } from "../outbox/event-log.js";
import type { MemoryParts } from "../parts.js";
import { numberOfCursor, pageOf } from "./page.js";

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
  const { id, tenant, source, type, key, time, contentType, body, deliverAt, expiresAt } = row;
  return {
    id,
    tenant,
    source,
    type,
    key,
    time: new Date(time),
    contentType,
    bodyBytes: body.length,
    deliverAt: deliverAt && new Date(deliverAt),
    expiresAt: expiresAt && new Date(expiresAt),
  };
}
