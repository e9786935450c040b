import { inSequence } from "../../../../lanes/hold.js";
import { heldCursorOf, heldRecord, heldSpotOf } from "../../../../operator/held-store.js";
import type { HeldFilter, HeldRecord } from "../../../../operator/held-store.js";
import type { Page, Paged } from "../../../../operator/operator-store.js";
import type { HeldPlace } from "../../lanes/hold.js";
import type { StoredEvent } from "../../outbox/event-log.js";
import type { Publications } from "../../outbox/publications.js";
import type { MemoryParts } from "../../parts.js";
import { pageOf } from "./page.js";

/** Events that are held, in the order of tenants, sources, keys and sequences. */
export function heldEvents(
  parts: MemoryParts,
  { holds }: Publications,
  { filter, page: { limit, after } }: { readonly filter: HeldFilter; readonly page: Page },
): Paged<HeldRecord> {
  const { tenant, source, key } = filter;
  const wanted = holds
    .held()
    .filter(
      ({ event }) =>
        (tenant === undefined || event.tenant === tenant) &&
        (source === undefined || event.source === source) &&
        (key === undefined || event.key === key),
    );
  const spot = heldSpotOf(after);
  const rest = wanted
    .map((place) => ({ place, key: spotOf(place.event) }))
    .toSorted((one, other) => compare(one.key, other.key))
    .filter(({ key: each }) => spot === undefined || compare(each, spot) > 0);
  const page = pageOf(rest, limit, (last) => heldCursorOf(last.key));
  return { ...page, items: page.items.map(({ place }) => shown(parts, place)) };
}

/** Where one event stands in the sequence of its key. */
export function heldEvent(
  parts: MemoryParts,
  { holds }: Publications,
  { tenant, eventId }: { readonly tenant: string; readonly eventId: string },
): HeldRecord | undefined {
  const event = parts.events.find(tenant, eventId).at(-1);
  if (event?.receipt?.hold === undefined) return undefined;
  const held = holds.held().find((each) => each.event === event);
  return shown(parts, held ?? { event, until: undefined, missing: undefined });
}

function shown(
  { endpoints }: MemoryParts,
  { event, until, missing }: Omit<HeldPlace, "until"> & { readonly until: Date | undefined },
): HeldRecord {
  const { tenant, source, key = "", id: eventId, type, writtenAt: receivedAt } = event;
  const found = { tenant, source, key, eventId, type, receivedAt: new Date(receivedAt), until, missing };
  return heldRecord({ ...found, mark: markOf(event) }, endpoints.handlers());
}

function markOf({ id, receipt }: StoredEvent) {
  if (receipt?.hold === undefined) throw new Error(`The event ${id} has no place in a sequence.`);
  return receipt.hold;
}

type Spot = ReturnType<typeof spotOf>;

function spotOf(event: StoredEvent) {
  const { tenant, source, key = "", rowId: number } = event;
  const { generation, sequence } = markOf(event);
  return { tenant, source, key, generation, sequence, number };
}

function compare(one: Spot, other: Spot): number {
  for (const field of ["tenant", "source", "key"] as const)
    if (one[field] !== other[field]) return one[field] < other[field] ? -1 : 1;
  const numbers = { after: undefined, maxEvents: 0, maxMs: 0 };
  return inSequence({ ...numbers, ...one }, { ...numbers, ...other }) || Number(one.number - other.number);
}
