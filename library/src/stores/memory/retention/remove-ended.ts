import type { RemovalStep } from "../../../retention/retention-store.js";
import type { LaneRow } from "../lanes/lane-row.js";
import { forgetPlace } from "./remove-attempts.js";
import type { Removed, RetentionParts } from "./removed.js";

const NOTHING: Removed = { rows: 0, next: undefined, lanes: new Set() };

/** Removes records that stand for themselves, oldest first: none of them is held by anything. */
export function removeEnded(parts: RetentionParts, step: RemovalStep): Removed {
  const { clock, history, publications } = parts;
  const { kind, windowMs, limit } = step;
  const isOld = ({ at }: { readonly at: Date }): boolean => at.getTime() <= clock.now() - windowMs;
  if (kind === "ids") return { ...NOTHING, rows: publications.ids.forget(clock.now() - windowMs) };
  if (kind === "dead") {
    const gone = history.resolved().filter(isOld).slice(0, limit);
    history.removeResolved(new Set(gone));
    return removed(parts, step, gone);
  }
  if (kind === "cancelled") {
    const gone = history.cancelled().filter(isOld).slice(0, limit);
    history.removeCancelled(new Set(gone));
    return removed(parts, step, gone);
  }
  return NOTHING;
}

/** A record of an end takes the attempts of its round along: without it they would tell of a delivery that was made. */
function removed(
  parts: RetentionParts,
  { kind, limit }: RemovalStep,
  gone: readonly { readonly id: string; readonly round?: number }[],
): Removed {
  const lanes = new Set<LaneRow>();
  let rows = gone.length;
  for (const { id, round } of gone) {
    rows += parts.history.removeAttempts(id, (attempt) => round === undefined || attempt.round === round);
    const place = parts.places.ofDelivery(id);
    if (place === undefined) continue;
    lanes.add(place.lane);
    forgetPlace(parts, place);
  }
  return { rows, next: gone.length === limit ? kind : undefined, lanes };
}
