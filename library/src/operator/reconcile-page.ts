import { handlerId, inboxName } from "../consumer-name.js";
import type { InboxStore } from "../inbox/inbox-store.js";
import type { InboxRecord, InboxViewStore } from "./inbox-view-store.js";
import type { DeliverySummary, EventSummary, LookupStore } from "./lookup-store.js";
import type { ReplayStore, UnhandledEvent } from "./replay-store.js";

/** An event as it is compared with the host's own tables. */
export interface ReconciledEvent {
  readonly tenant: string;
  readonly source: string;
  /** In its stored form. */
  readonly id: string;
  readonly type: string;
  readonly time: Date | undefined;
  /** The exact bytes. */
  readonly body: Uint8Array;
  /** The body as JSON; undefined when it is none. */
  readonly data: unknown;
  /** What the inbox says of it. Without a row: `pending` where it waits, `failed` where it died or was cancelled. */
  readonly outcome: InboxRecord["outcome"];
  readonly round: number;
}

/** An event that is compared, and how it is called applied. */
export interface Compared {
  readonly event: ReconciledEvent;
  /** As the inbox has the consumer of its row. */
  readonly consumer: string;
  /** The id of the stored event, where the inbox has no row of it. */
  readonly unhandledId?: string;
}

export interface ComparedPage {
  readonly items: readonly Compared[];
  readonly next: string | undefined;
}

interface Wanted {
  readonly store: Pick<InboxStore<never>, "read"> &
    Pick<InboxViewStore, "inboxRows"> &
    Pick<LookupStore, "event" | "events" | "deliveriesOf"> &
    Pick<ReplayStore, "unhandled">;
  readonly since: Date;
  readonly until?: Date | undefined;
  readonly tenant?: string | undefined;
  readonly source?: string | undefined;
  readonly consumer?: string | undefined;
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
}

// The cursors of the second part: stored events without a row, after all rows.
const STORED = "stored:";

/** A page of the rows of the inbox; behind the last of them, of stored events that wait or died and have none. */
export async function readPage(wanted: Wanted): Promise<ComparedPage> {
  const { after } = wanted;
  if (after?.startsWith(STORED) === true) return readStored(wanted, after.slice(STORED.length));
  const { store, since, until, tenant, source, limit = 100 } = wanted;
  const consumer = inboxName(wanted.consumer ?? "default");
  const filter = { since, until, tenant, source, consumer, order: "oldest" } as const;
  const { items, next } = await store.inboxRows(filter, { limit, after });
  const compared: Compared[] = [];
  for (const row of items) compared.push({ event: await eventOfRow(store, row), consumer });
  if (next !== undefined) return { items: compared, next };
  const stored = await readStored(wanted, undefined);
  return { items: [...compared, ...stored.items], next: stored.next };
}

async function readStored(wanted: Wanted, after: string | undefined): Promise<ComparedPage> {
  const { store, since, until, tenant, source, limit = 100 } = wanted;
  const { items, next } = await store.events({ since, until, tenant, source }, { limit, after });
  const compared: Compared[] = [];
  // What is published goes to no handler.
  const incoming = items.filter(({ direction }) => direction === "in");
  for (const of of new Set(incoming.map((event) => event.tenant))) {
    const events = incoming.filter((event) => event.tenant === of);
    compared.push(...(await unhandledOf(wanted, of, events)));
  }
  return { items: compared, next: next === undefined ? undefined : STORED + next };
}

async function unhandledOf(
  { store, consumer = "default" }: Wanted,
  tenant: string,
  events: readonly EventSummary[],
): Promise<readonly Compared[]> {
  const states = await statesAt(store, { tenant, events, endpointId: handlerId(consumer) });
  const name = inboxName(consumer);
  const found = states.size === 0 ? [] : await store.unhandled(tenant, [...states.keys()], name);
  const compared: Compared[] = [];
  for (const each of found) {
    const event = await eventStored(store, tenant, { each, state: states.get(each.eventId) });
    compared.push({ event, consumer: name, unhandledId: each.eventId });
  }
  return compared;
}

/** Events that wait, died or were cancelled there. What is under way is about to have its row. */
async function statesAt(
  store: Wanted["store"],
  {
    tenant,
    events,
    endpointId,
  }: { readonly tenant: string; readonly events: readonly EventSummary[]; readonly endpointId: string },
): Promise<ReadonlyMap<string, DeliverySummary["state"]>> {
  const ids = events.map(({ id }) => id);
  const deliveries = await store.deliveriesOf(tenant, ids);
  const states = new Map<string, DeliverySummary["state"]>();
  for (const each of deliveries) if (each.endpointId === endpointId) states.set(each.eventId, each.state);
  for (const [id, state] of states) if (state === "under_way" || state === "delivered") states.delete(id);
  return states;
}

async function eventOfRow(store: Wanted["store"], row: InboxRecord): Promise<ReconciledEvent> {
  const { tenant, source, id, type, eventAt, outcome, round, storedAs } = row;
  const stored =
    storedAs === undefined ? await store.read({ tenant, source, id }) : await store.event(tenant, storedAs);
  const body = stored?.body ?? new Uint8Array();
  return { tenant, source, id, type, time: eventAt, outcome, round, body, data: jsonOf(body) };
}

async function eventStored(
  store: Wanted["store"],
  tenant: string,
  { each, state }: { readonly each: UnhandledEvent; readonly state: DeliverySummary["state"] | undefined },
): Promise<ReconciledEvent> {
  const { eventId, source, id, type, eventAt: time } = each;
  const body = (await store.event(tenant, eventId))?.body ?? new Uint8Array();
  const outcome = state === "waiting" || state === "retrying" ? "pending" : "failed";
  return { tenant, source, id, type, time, outcome, round: 1, body, data: jsonOf(body) };
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}
