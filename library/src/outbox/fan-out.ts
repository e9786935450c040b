import type { RegisteredHandler } from "../lanes/handler-consumer.js";
import type { Matcher } from "../pattern.js";
import { matcherOf } from "../pattern.js";
import type { Endpoint } from "./endpoint.js";
import type { OutgoingEvent } from "./outgoing-event.js";

/** What a lane can lead to. */
export type Consumer = Endpoint | RegisteredHandler;

export function isHandler(consumer: Consumer): consumer is RegisteredHandler {
  return "kind" in consumer;
}

/** Whose consumer it is; a handler is nobody's. */
export function ownerOf(consumer: Consumer | undefined): string | undefined {
  return consumer === undefined || isHandler(consumer) ? undefined : consumer.tenant;
}

/** Where one event goes: into a lane of the consumer, or without a key beside all lanes. */
export interface Place {
  readonly consumerId: string;
  readonly lane: LaneName | undefined;
}

/** A lane among those of its consumer. An endpoint belongs to one tenant and orders by key alone: tenant and source are "". */
export interface LaneName {
  readonly tenant: string;
  readonly source: string;
  readonly key: string;
}

/** What of an event decides where it goes. */
export interface Addressed extends Pick<OutgoingEvent, "tenant" | "source" | "type" | "key"> {
  /** Whether it was stored for handlers. */
  readonly isStored: boolean;
}

interface Entry {
  readonly consumer: Consumer;
  readonly matches: (event: Addressed) => boolean;
}

/** Decides where events go. Made once for a set of consumers; the same event always goes to the same places, in the order of the consumers. */
export class FanOut {
  readonly #byTenant = new Map<string, Entry[]>();
  readonly #handlers: Entry[] = [];

  constructor(consumers: readonly Consumer[]) {
    for (const consumer of consumers) {
      const entry = { consumer, matches: matcherFor(consumer) };
      if (isHandler(consumer)) this.#handlers.push(entry);
      else this.#ofTenant(consumer.tenant).push(entry);
    }
  }

  placesOf(event: Addressed): readonly Place[] {
    return this.partOf(event, () => true, Infinity).places;
  }

  /** Up to `most` places, at consumers that `isLeft` says the event has not reached yet. `isDone`: there are no more. */
  partOf(
    event: Addressed,
    isLeft: (consumerId: string) => boolean,
    most: number,
  ): { readonly places: readonly Place[]; readonly isDone: boolean } {
    const places: Place[] = [];
    // Else a stored event of a provider would reach a customer's endpoint of the pattern `*`.
    const entries = event.isStored ? this.#handlers : (this.#byTenant.get(event.tenant) ?? []);
    for (const { consumer, matches } of entries) {
      if (!isLeft(consumer.id) || !matches(event)) continue;
      if (places.length >= most) return { places, isDone: false };
      places.push(placeIn(consumer, event));
    }
    return { places, isDone: true };
  }

  /** Whether the event was stored for handlers, and there is none for it: nobody may call it finished. */
  isUnclaimed(event: Addressed): boolean {
    return event.isStored && !this.#handlers.some(({ matches }) => matches(event));
  }

  #ofTenant(tenant: string): Entry[] {
    const known = this.#byTenant.get(tenant) ?? [];
    this.#byTenant.set(tenant, known);
    return known;
  }
}

/** A handler gets every type of its sources: one that it does not handle is recorded as skipped, and can be redriven. */
function matcherFor(consumer: Consumer): Entry["matches"] {
  const sources = matcherOf(consumer.sources);
  const types: Matcher = isHandler(consumer) ? () => true : matcherOf(consumer.types);
  return (event) => sources(event.source) && types(event.type);
}

/** Its place at one consumer, whatever the patterns say: for a redrive, which names its consumer. */
export function placeIn(
  consumer: Pick<Endpoint, "id" | "order"> | RegisteredHandler,
  { tenant, source, key }: Pick<Addressed, "tenant" | "source" | "key">,
): Place {
  const { id, order } = consumer;
  const laneKey = laneKeyOf(order, id, key);
  const scope = "kind" in consumer ? { tenant, source } : { tenant: "", source: "" };
  return { consumerId: id, lane: laneKey === undefined ? undefined : { ...scope, key: laneKey } };
}

/** Why an event that was stored for handlers is set aside: told to the observer, and kept with the event. */
export const UNCLAIMED = "no handler is registered for its source: start a worker that names it";

function laneKeyOf(
  order: Endpoint["order"],
  consumerId: string,
  key: string | undefined,
): string | undefined {
  switch (order) {
    case "key":
      return key;
    case "endpoint":
      // On the wire a lane has a key; the endpoint's own id is nobody's.
      return consumerId;
    case "none":
      return undefined;
  }
}
