import type { EventFilter } from "../../../operator/lookup-store.js";
import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";

/** An event as the memory store keeps it: with bytes of its own, never changed. */
export interface StoredEvent extends OutgoingEvent {
  readonly rowId: bigint;
}

/** Every event that was ever published, oldest first. */
export class EventLog {
  readonly #events: StoredEvent[] = [];
  readonly #byId = new Map<string, StoredEvent[]>();

  add(event: StoredEvent): void {
    this.#events.push(event);
    const name = nameOf(event.tenant, event.id);
    this.#byId.set(name, [...(this.#byId.get(name) ?? []), event]);
  }

  /** The events of one id, oldest first. There may be several: only given ids are checked for duplicates. */
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
