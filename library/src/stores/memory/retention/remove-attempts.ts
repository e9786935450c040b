import type { RemovalStep } from "../../../retention/retention-store.js";
import { idOf } from "../lanes/lane-row.js";
import type { GivenPlace } from "../lanes/place-table.js";
import type { MemoryParts } from "../parts.js";
import { isOpen } from "./remove-events.js";
import type { Removed, RetentionParts } from "./removed.js";

/** Removes attempts, or their answers, of events that are old enough but stay. Each event is looked at once. */
export function removeAttempts(parts: RetentionParts, { kind, windowMs, limit }: RemovalStep): Removed {
  const { clock, events, history, places, upTo } = parts;
  const cutoff = clock.now() - windowMs;
  const old = events
    .after(upTo.get(kind) ?? -1n, limit)
    .filter(({ writtenAt }) => writtenAt.getTime() <= cutoff);
  const ended = old
    .flatMap((event) => places.ofEvent(event))
    .filter((place) => !isOpen(parts, place) && history.dead(idOf(place.lane, place.sequence)) === undefined);
  let rows = 0;
  for (const place of ended) {
    const id = idOf(place.lane, place.sequence);
    rows += kind === "answers" ? history.emptyAnswers(id) : history.removeAttempts(id);
    if (kind === "attempts") forgetPlace(parts, place);
  }
  const last = old.at(-1)?.rowId;
  if (last !== undefined) upTo.set(kind, last);
  return {
    rows,
    next: old.length === limit && last !== undefined ? String(last) : undefined,
    lanes: new Set(kind === "attempts" ? ended.map(({ lane }) => lane) : []),
  };
}

/** Forgets a place of which nothing is told any more: it would be told as dead. */
export function forgetPlace(parts: MemoryParts, place: GivenPlace): void {
  const id = idOf(place.lane, place.sequence);
  if (isOpen(parts, place) || parts.history.tells(id)) return;
  parts.history.removeEnding(id);
  parts.places.remove(place);
}
