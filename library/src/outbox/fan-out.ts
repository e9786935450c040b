import type { Endpoint } from "./endpoint.js";
import type { OutgoingEvent } from "./outgoing-event.js";

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
    const matching = (this.#byTenant.get(event.tenant) ?? []).filter(
      ({ sources, types }) => sources(event.source) && types(event.type),
    );
    return matching.map(({ endpoint }) => placeIn(endpoint, event.key));
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

/** Tells texts that match a pattern, in which `*` stands for any text, the empty one included. No regular expression: a pattern comes from users, and must not be able to take long. */
export type Matcher = (text: string) => boolean;

export function matcherOf(patterns: readonly string[]): Matcher {
  if (patterns.includes("*")) return () => true;
  const exact = new Set(patterns.filter((pattern) => !pattern.includes("*")));
  const globs = patterns.filter((pattern) => pattern.includes("*")).map((pattern) => pattern.split("*"));
  return (text) => exact.has(text) || globs.some((parts) => matches(parts, text));
}

/** Each part is looked for after the one before it: the first find is the best one, so nothing is tried twice. */
function matches(parts: readonly string[], text: string): boolean {
  const [first = "", ...rest] = parts;
  const last = rest.pop() ?? "";
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= end;
}
