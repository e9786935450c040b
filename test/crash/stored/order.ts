import type { AppliedRow } from "./database.js";
import type { KeyStream, StreamEvent } from "./stream.js";

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

/** How often an event has to be applied. */
export interface DueTimes {
  readonly least: number;
  readonly most: number;
}

/**
 * Judges a consumer that drops what is stale, and says how often it has to apply each event: by the order of storing, each
 * that is newer than all before it. The replays of the newest are applied; another may be overtaken by a newer one while
 * its replay waits, and then that is dropped.
 */
export function judgeLatest(
  events: KeyStream,
  rows: readonly AppliedRow[],
  { counts, roundsOf }: { counts: { stale: number }; roundsOf: (event: StreamEvent) => number },
): ReadonlyMap<StreamEvent, DueTimes> {
  let highest = 0;
  const newer = events.filter(({ version }) => version > highest && ((highest = version), true));
  const places = new Set(newer.map(({ place }) => place));
  let applied = 0;
  for (const { place, version } of rows) {
    if (!places.has(place) || version < applied) counts.stale++;
    applied = Math.max(applied, version);
  }
  return new Map(
    newer.map((event) => {
      const most = roundsOf(event);
      return [event, { least: event.version === highest ? most : 1, most }];
    }),
  );
}
