import type { EventFilter } from "../../../operator/lookup-store.js";
import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";

/** An event as the memory store keeps it: with bytes of its own, never changed. */
export interface StoredEvent extends OutgoingEvent {
  readonly rowId: bigint;
  readonly writtenAt: Date;
}

/** Every event that was published and not removed, oldest first. */
export class EventLog {
  #events: StoredEvent[] = [];
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

  /** The next events behind a number, oldest first. */
  after(rowId: bigint, limit: number): readonly StoredEvent[] {
    return this.#events.filter((event) => event.rowId > rowId).slice(0, limit);
  }

  /** Puts an event in the place of one that has no places yet. */
  replace(before: StoredEvent, after: StoredEvent): void {
    const replaced = (each: StoredEvent): StoredEvent => (each === before ? after : each);
    this.#events = this.#events.map(replaced);
    const name = nameOf(before.tenant, before.id);
    this.#byId.set(name, this.find(before.tenant, before.id).map(replaced));
  }

  remove(event: StoredEvent): void {
    this.#events = this.#events.filter((each) => each !== event);
    const name = nameOf(event.tenant, event.id);
    const others = this.find(event.tenant, event.id).filter((each) => each !== event);
    if (others.length === 0) this.#byId.delete(name);
    else this.#byId.set(name, others);
  }

  /** The ids of a tenant that begin with a text. */
  idsOf(tenant: string, prefix: string): readonly string[] {
    return this.#events
      .filter((event) => event.tenant === tenant && event.id.startsWith(prefix))
      .map(({ id }) => id);
  }

  tenantsOf(id: string): readonly string[] {
    return [...new Set(this.#events.filter((event) => event.id === id).map(({ tenant }) => tenant))];
  }

  /** Newest first. */
  matching(filter: EventFilter): readonly StoredEvent[] {
    return this.#events.filter((event) => matches(event, filter)).toReversed();
  }
}

function nameOf(tenant: string, id: string): string {
  return JSON.stringify([tenant, id]);
}

function matches(event: StoredEvent, filter: EventFilter): boolean {
  const { tenant, source, type, key, since, until } = filter;
  return (
    (tenant === undefined || event.tenant === tenant) &&
    (source === undefined || event.source === source) &&
    (type === undefined || event.type === type) &&
    (key === undefined || event.key === key) &&
    (since === undefined || event.writtenAt >= since) &&
    (until === undefined || event.writtenAt < until)
  );
}
