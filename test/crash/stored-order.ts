import type { AppliedRow } from "./stored-database.js";
import type { KeyStream, StreamEvent } from "./stored-stream.js";

/**
 * Judges a consumer whose source holds events back. Those that are not told to be late come in the order of versions. One
 * is late only where a newer one was stored before it, and has passed it.
 */
export function judgeHeld(
  events: KeyStream,
  rows: readonly AppliedRow[],
  counts: { outOfOrder: number; wronglyLate: number },
): void {
  let highest = 0;
  for (const { version, place, late } of rows) {
    const isPassed = version < highest;
    if (late === 0 && isPassed) counts.outOfOrder++;
    if (late !== 0 && !(isPassed && isBehindNewer(events, { version, place }))) counts.wronglyLate++;
    highest = Math.max(highest, version);
  }
}

function isBehindNewer(
  events: KeyStream,
  { version, place }: Pick<StreamEvent, "version" | "place">,
): boolean {
  return events.some((other) => other.place < place && other.version > version);
}

/** How many events came behind newer ones, and were applied before them: that is what holding is for. */
export function putInOrder(stream: readonly KeyStream[], applied: readonly AppliedRow[]): number {
  const streams = new Map(stream.map((events) => [events[0]?.key, events]));
  return applied.filter(({ consumer, key, late, ...at }) => {
    return consumer === "held" && late === 0 && isBehindNewer(streams.get(key) ?? [], at);
  }).length;
}

/**
 * Judges a consumer that drops what is stale, and says which events it has to apply: by the order of storing, each that is
 * newer than all before it.
 */
export function judgeLatest(
  events: KeyStream,
  rows: readonly AppliedRow[],
  counts: { stale: number },
): readonly StreamEvent[] {
  let highest = 0;
  const newer = events.filter(({ version }) => version > highest && ((highest = version), true));
  const places = new Set(newer.map(({ place }) => place));
  counts.stale += rows.filter(({ place }) => !places.has(place)).length;
  return newer;
}
