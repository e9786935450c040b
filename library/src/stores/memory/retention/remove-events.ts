import type { RemovalStep } from "../../../retention/retention-store.js";
import { idOf } from "../lanes/lane-row.js";
import type { GivenPlace } from "../lanes/place-table.js";
import type { StoredEvent } from "../outbox/event-log.js";
import type { MemoryParts } from "../parts.js";
import type { Removed, RetentionParts } from "./removed.js";

/** Removes events of which nothing is open any more, with all that is told of them. */
export function removeEvents(parts: RetentionParts, step: RemovalStep): Removed {
  const { clock, events, places, publications, steps } = parts;
  const { windowMs, idWindowMs = Infinity, limit, after = "-1" } = step;
  const now = clock.now();
  const isOld = (at: number): boolean => at <= now - windowMs;
  const looked = events.after(BigInt(after), limit);
  const old = looked.filter(({ writtenAt }) => isOld(writtenAt.getTime()));
  const going = old.filter(
    (event) => isOld((event.deliverAt ?? event.writtenAt).getTime()) && !isHeld(parts, event),
  );
  const gone = going.flatMap((event) => places.ofEvent(event));
  const records = gone.reduce((sum, place) => sum + removeRecords(parts, place), 0);
  let rows = going.length + records;
  for (const event of going) {
    events.remove(event);
    rows += steps.removeOf(event.tenant, event.id);
    publications.ids.keepUntil(event, event.writtenAt.getTime() + idWindowMs);
  }
  return {
    rows: rows + publications.ids.forget(now) + publications.holds.forget(now - windowMs),
    next: old.length === limit ? String(looked.at(-1)?.rowId) : undefined,
    lanes: new Set(gone.map(({ lane }) => lane)),
  };
}

function isHeld({ history, lanes, places, publications }: RetentionParts, event: StoredEvent): boolean {
  return (
    publications.isWaiting(event) ||
    places
      .ofEvent(event)
      .some((place) => isOpen({ lanes }, place) || history.hasDead(idOf(place.lane, place.sequence)))
  );
}

export function isOpen({ lanes }: Pick<MemoryParts, "lanes">, { lane, sequence }: GivenPlace): boolean {
  return lanes.has(lane) && lane.deliveries.has(sequence);
}

function removeRecords({ history, places }: MemoryParts, place: GivenPlace): number {
  const id = idOf(place.lane, place.sequence);
  const cancelled = new Set(history.cancelled().filter((each) => each.id === id));
  const attempts = history.removeAttempts(id);
  history.removeCancelled(cancelled);
  history.removeEnding(id);
  places.remove(place);
  return attempts + cancelled.size;
}
