import type {
  EventFilter,
  EventSummary,
  StoredEvent as EventWithBody,
} from "../../../operator/lookup-store.js";
import type { StoredEvent } from "../lanes/lane.js";

/** Every event that was ever published, oldest first. */
export class EventLog {
  readonly #events: StoredEvent[] = [];
  readonly #byId = new Map<string, StoredEvent[]>();

  add(event: StoredEvent): void {
    this.#events.push(event);
    const name = nameOf(event.tenant, event.id);
    this.#byId.set(name, [...(this.#byId.get(name) ?? []), event]);
  }

  /** Those of one id, oldest first: where nobody gave the id, nobody looked whether there was one. */
  find(tenant: string, id: string): readonly StoredEvent[] {
    return this.#byId.get(nameOf(tenant, id)) ?? [];
  }

  /** Newest first. */
  matching(filter: EventFilter): readonly StoredEvent[] {
    return this.#events.filter((event) => matches(event, filter)).toReversed();
  }
}

function nameOf(tenant: string, id: string): string {
  return JSON.stringify([tenant, id]);
}

function matches(event: StoredEvent, { tenant, source, type, key }: EventFilter): boolean {
  return (
    (tenant === undefined || event.tenant === tenant) &&
    (source === undefined || event.source === source) &&
    (type === undefined || event.type === type) &&
    (key === undefined || event.key === key)
  );
}

export function eventSummary(event: StoredEvent): EventSummary {
  const { id, tenant, source, type, key, time, contentType, body, deliverAt, expiresAt } = event;
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

export function eventWithBody(event: StoredEvent): EventWithBody {
  return { ...eventSummary(event), body: event.body.slice(), headers: { ...event.headers } };
}
