import type { AppliedRow, StoredDatabase, StreamRows } from "./database.js";
import { judgeHeld, judgeLatest } from "./order.js";
import { judgeSteps } from "./steps.js";
import type { KeyStream, StreamEvent, StreamSource } from "./stream.js";

/** The consumers of each source, as host/stored/consumers.mjs has them. */
export const CONSUMERS: Readonly<Record<StreamSource, readonly string[]>> = {
  shop: ["single", "many"],
  held: ["held"],
  latest: ["latest"],
  jobs: ["jobs"],
  frail: ["frail"],
};

/** What became of a stream, over all consumers. */
export interface StoredVerdict {
  readonly lost: number;
  readonly doubled: number;
  /** Applied for the first time after one that was to come behind it: in the order of storing, or of versions where it is held. */
  readonly outOfOrder: number;
  /** Told that it comes too late, though nothing that comes behind it was stored before it. */
  readonly wronglyLate: number;
  /** Applied, though a newer version of its resource had been. */
  readonly stale: number;
  /** Keys whose state is not that of the ordered stream. */
  readonly otherState: number;
  /** Effects of a step which it has had in the same round already, though the step could look for them. */
  readonly stepsDoubled: number;
  /** Steps that cannot look, done again more often than a kill explains. */
  readonly stepsAgain: number;
  /** Events that are marked without the effect of their step. */
  readonly stepsLost: number;
  /** Applied, and never sent. */
  readonly unknown: number;
  readonly dead: number;
}

export const KEPT: StoredVerdict = {
  lost: 0,
  doubled: 0,
  outOfOrder: 0,
  wronglyLate: 0,
  stale: 0,
  otherState: 0,
  stepsDoubled: 0,
  stepsAgain: 0,
  stepsLost: 0,
  unknown: 0,
  dead: 0,
};

/** What was done to a stream. */
export interface StreamPast {
  readonly stream: readonly KeyStream[];
  /** How many rounds more than one, by `nameOfEffect`; what was never replayed is not in it. */
  readonly rounds: ReadonlyMap<string, number>;
  /** How many handlers may have been cut off by kills: each may do a step again. */
  readonly cutOff: number;
}

/** Names what a consumer does about an event. */
export function nameOfEffect(consumer: string, { key, place }: Pick<StreamEvent, "key" | "place">): string {
  return `${consumer} ${key} ${place}`;
}

/** Holds what handlers have written against what was sent. */
export async function judgeStored(past: StreamPast, database: StoredDatabase): Promise<StoredVerdict> {
  return { ...judgeRows(past, await database.rows()), dead: await database.dead() };
}

type Counts = { -readonly [Harm in Exclude<keyof StoredVerdict, "dead">]: number };

export function judgeRows(past: StreamPast, { applied, newest, steps }: StreamRows): Counts {
  const rows = rowsByName(applied);
  const states = new Map(newest.map((row) => [nameOf(row), row.version]));
  const { dead: _, ...counts }: { -readonly [Harm in keyof StoredVerdict]: number } = { ...KEPT };
  for (const events of past.stream) {
    const [first] = events;
    if (first === undefined) continue;
    for (const consumer of CONSUMERS[first.source]) {
      const name = nameOf({ consumer, key: first.key });
      judgeKey({ consumer, events, rows: rows.get(name) ?? [], rounds: past.rounds }, counts);
      rows.delete(name);
      if (states.get(name) !== Math.max(...events.map(({ version }) => version))) counts.otherState++;
    }
  }
  for (const left of rows.values()) counts.unknown += left.length;
  return { ...counts, ...judgeSteps(applied, steps, past.cutOff) };
}

interface KeyRows {
  readonly consumer: string;
  readonly events: KeyStream;
  readonly rows: readonly AppliedRow[];
  readonly rounds: StreamPast["rounds"];
}

function judgeKey({ consumer, events, rows, rounds }: KeyRows, counts: Counts): void {
  const roundsOf = (event: StreamEvent): number => 1 + (rounds.get(nameOfEffect(consumer, event)) ?? 0);
  const wanted =
    consumer === "latest"
      ? judgeLatest(events, rows, { counts, roundsOf })
      : new Map(events.map((event) => [event, { least: roundsOf(event), most: roundsOf(event) }]));
  const times = new Map<number, number>();
  for (const { place } of rows) times.set(place, (times.get(place) ?? 0) + 1);
  for (const [{ place }, { least, most }] of wanted) {
    const found = times.get(place) ?? 0;
    counts.lost += Math.max(0, least - found);
    counts.doubled += Math.max(0, found - most);
  }
  // A replay comes at the end of its lane: what counts is when each event was applied for the first time.
  const seen = new Set<number>();
  const firsts = rows.filter(({ place }) => seen.size < seen.add(place).size);
  if (consumer === "held") judgeHeld(events, firsts, counts);
  else counts.outOfOrder += overtaken(firsts.map(({ place }) => place));
}

function rowsByName(applied: readonly AppliedRow[]): Map<string, AppliedRow[]> {
  const rows = new Map<string, AppliedRow[]>();
  for (const row of applied) {
    const name = nameOf(row);
    const known = rows.get(name);
    if (known) known.push(row);
    else rows.set(name, [row]);
  }
  return rows;
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
