import { nameOfId } from "../incoming-name.js";
import { PosthornError } from "../posthorn-error.js";
import type { EventFilter, EventSummary, LookupStore } from "./lookup-store.js";
import type { OperatorErrorCode } from "./operator-errors.js";
import type { Paged } from "./operator-store.js";
import type { ViewStore } from "./view-store.js";

/** Which events a person wants. */
export interface EventWish extends EventFilter {
  /**
   * The id that its provider gave it, in its stored form; together with `source`, and with `tenant` where that is not
   * `default`. It is found by its name, in one step, for as long as its receiver knows duplicates of it by that id.
   */
  readonly providerId?: string | undefined;
}

/** A store that knows the names under which events came. */
export type NamingStore = Pick<LookupStore, "event"> & Pick<ViewStore, "namedEvents">;

/** The event that came under an id of its provider's: also one that no handler has applied, of which the inbox has no row. */
export async function eventsNamed(store: NamingStore, wish: EventWish): Promise<Paged<EventSummary>> {
  const { tenant = "default", source, providerId = "" } = wish;
  // The names of events begin with their source: without it, no index has them.
  if (source === undefined)
    throw new PosthornError<OperatorErrorCode>(
      "operator_option_invalid",
      "providerId is given without source; expected both: ids of two providers may be the same.",
    );
  const ids = await store.namedEvents(tenant, [nameOfId(source, providerId)]);
  const found = await Promise.all(ids.map((id) => store.event(tenant, id)));
  const items = found.flatMap((event) => {
    if (event === undefined || !isWanted(event, wish)) return [];
    const { body: _, headers: _headers, ...summary } = event;
    return [summary];
  });
  return { items, next: undefined };
}

function isWanted(event: EventSummary, { type, key, since, until }: EventWish): boolean {
  return (
    (type === undefined || event.type === type) &&
    (key === undefined || event.key === key) &&
    (since === undefined || event.writtenAt >= since) &&
    (until === undefined || event.writtenAt < until)
  );
}
