import type { Endpoint } from "./endpoint.js";
import type { OutgoingEvent } from "./outgoing-event.js";
import type { Matcher } from "../pattern.js";
import { matcherOf } from "../pattern.js";

/** Where one event goes: into a lane of the endpoint, or without a key beside all lanes. */
export interface Place {
  readonly endpointId: string;
  readonly laneKey: string | undefined;
}

/** What of an event decides where it goes. */
export type Addressed = Pick<OutgoingEvent, "tenant" | "source" | "type" | "key">;

/** Decides where events go. Made once for a set of endpoints; the same event always goes to the same places, in the order of the endpoints. */
export class FanOut {
  readonly #byTenant = new Map<string, { endpoint: Endpoint; sources: Matcher; types: Matcher }[]>();

  constructor(endpoints: readonly Endpoint[]) {
    for (const endpoint of endpoints) {
      const { tenant, sources, types } = endpoint;
      const entry = { endpoint, sources: matcherOf(sources), types: matcherOf(types) };
      const known = this.#byTenant.get(tenant);
      if (known === undefined) this.#byTenant.set(tenant, [entry]);
      else known.push(entry);
    }
  }

  placesOf(event: Addressed): readonly Place[] {
    return this.partOf(event, () => true, Infinity).places;
  }

  /** Up to `most` places, at endpoints that `isLeft` says the event has not reached yet. `isDone`: there are no more. */
  partOf(
    event: Addressed,
    isLeft: (endpointId: string) => boolean,
    most: number,
  ): { readonly places: readonly Place[]; readonly isDone: boolean } {
    const places: Place[] = [];
    for (const { endpoint, sources, types } of this.#byTenant.get(event.tenant) ?? []) {
      if (!isLeft(endpoint.id) || !sources(event.source) || !types(event.type)) continue;
      if (places.length >= most) return { places, isDone: false };
      places.push(placeIn(endpoint, event.key));
    }
    return { places, isDone: true };
  }
}

/** Its place at one endpoint, whatever the patterns say: for a redrive, which names its endpoint. */
export function placeIn({ id, order }: Pick<Endpoint, "id" | "order">, key: string | undefined): Place {
  return { endpointId: id, laneKey: laneKeyOf(order, id, key) };
}

function laneKeyOf(
  order: Endpoint["order"],
  endpointId: string,
  key: string | undefined,
): string | undefined {
  switch (order) {
    case "key":
      return key;
    case "endpoint":
      // On the wire a lane has a key; the endpoint's own id is nobody's.
      return endpointId;
    case "none":
      return undefined;
  }
}
