import type { AppliedRow, NewestRow, StoredDatabase } from "./stored-database.js";
import type { KeyStream } from "./stored-stream.js";

/** The consumers of host/worker-process.mjs. */
const CONSUMERS = ["single", "many"];

/** What became of a stream, over all consumers. */
export interface StoredVerdict {
  readonly lost: number;
  readonly doubled: number;
  /** Applied after one that was stored behind it. */
  readonly outOfOrder: number;
  /** Keys whose state is not that of the ordered stream. */
  readonly otherState: number;
  /** Applied, and never sent. */
  readonly unknown: number;
  readonly dead: number;
}

export const KEPT: StoredVerdict = {
  lost: 0,
  doubled: 0,
  outOfOrder: 0,
  otherState: 0,
  unknown: 0,
  dead: 0,
};

/** Holds what handlers have written against what was sent. */
export async function judgeStored(
  stream: readonly KeyStream[],
  database: StoredDatabase,
): Promise<StoredVerdict> {
  const [applied, newest] = [await database.applied(), await database.newest()];
  return { ...judgeRows(stream, applied, newest), dead: await database.dead() };
}

export function judgeRows(
  stream: readonly KeyStream[],
  applied: readonly AppliedRow[],
  newest: readonly NewestRow[],
): Omit<StoredVerdict, "dead"> {
  const rows = placesByName(applied);
  const states = new Map(newest.map((row) => [nameOf(row), row.version]));
  const counts = { lost: 0, doubled: 0, outOfOrder: 0, otherState: 0, unknown: 0 };
  for (const events of stream) {
    const [first] = events;
    if (first === undefined) continue;
    for (const consumer of CONSUMERS) {
      const name = nameOf({ consumer, key: first.key });
      const places = rows.get(name) ?? [];
      rows.delete(name);
      const distinct = new Set(places);
      counts.lost += events.filter(({ place }) => !distinct.has(place)).length;
      counts.doubled += places.length - distinct.size;
      counts.outOfOrder += overtaken(places);
      const ordered = Math.max(...events.map(({ version }) => version));
      if (states.get(name) !== ordered) counts.otherState++;
    }
  }
  for (const left of rows.values()) counts.unknown += left.length;
  return counts;
}

function placesByName(applied: readonly AppliedRow[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const row of applied) {
    const name = nameOf(row);
    const known = places.get(name);
    if (known) known.push(row.place);
    else places.set(name, [row.place]);
  }
  return places;
}

function overtaken(places: readonly number[]): number {
  let highest = -1;
  let times = 0;
  for (const place of places) {
    if (place < highest) times++;
    highest = Math.max(highest, place);
  }
  return times;
}

function nameOf({ consumer, key }: Pick<AppliedRow, "consumer" | "key">): string {
  return `${consumer} ${key}`;
}
