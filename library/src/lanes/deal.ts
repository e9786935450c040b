/** What one event was given of its places. */
export interface Dealt<E, P> {
  readonly event: E;
  readonly places: readonly P[];
  /** Whether these are the last of its places. */
  readonly isDone: boolean;
}

/** A part of an event's places, in their order. */
export interface Part<P> {
  readonly places: readonly P[];
  readonly isDone: boolean;
}

/**
 * Deals the places of one step out among tenants: each gets an equal share of `budget`, so that one event with very many
 * places delays nobody but its own tenant. Only the first event of a tenant's turn may be given a part of its places;
 * while it is not done, no later event of its tenant is given any. Events of different tenants never meet in a lane, so
 * that each lane has them in the order of the stage.
 */
export function dealPlaces<E, P>(
  queues: readonly (readonly E[])[],
  budget: number,
  placesOf: (event: E, most: number) => Part<P>,
): readonly Dealt<E, P>[] {
  const share = Math.max(1, Math.floor(budget / Math.max(1, queues.length)));
  return queues.flatMap((queue) => dealTo(queue, share, placesOf));
}

/** The queues without those events for which `deal` has no room in this step. */
export function withRoom<E>(
  queues: readonly (readonly E[])[],
  deal: (queues: readonly (readonly E[])[]) => readonly { readonly event: E }[],
): readonly (readonly E[])[] {
  const dealt = new Set(deal(queues).map(({ event }) => event));
  return queues.map((queue) => queue.filter((event) => dealt.has(event)));
}

function dealTo<E, P>(
  queue: readonly E[],
  share: number,
  placesOf: (event: E, most: number) => Part<P>,
): readonly Dealt<E, P>[] {
  const dealt: Dealt<E, P>[] = [];
  let left = share;
  for (const event of queue) {
    const { places, isDone } = placesOf(event, left);
    if (!isDone && dealt.length > 0) break;
    dealt.push({ event, places, isDone });
    // An event without a place costs its turn too.
    left -= Math.max(1, places.length);
    if (!isDone || left <= 0) break;
  }
  return dealt;
}
