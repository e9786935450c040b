import type { LogRecord, SightingOf } from "../../world/run-log.js";
import type { ConsumerPlan, StoredScript, StreamedEvent } from "../../stored/script.js";
import { conflictOf } from "../../stored/names.js";
import { eventsOf } from "../../stored/script.js";

/** What a handler's transaction has committed. `index` is its place in the history. */
export interface Effect extends SightingOf<"effect"> {
  readonly at: number;
  readonly index: number;
}

/** When an event was stored, by the database's word. */
export interface KeptEvent {
  readonly event: StreamedEvent;
  readonly at: number;
  readonly index: number;
}

/** An event at a consumer, as its rows tell of it. */
export interface Fate {
  readonly consumer: ConsumerPlan;
  readonly kept: KeptEvent;
  /** In the order of their commits; without those that found their version stale. */
  readonly effects: readonly Effect[];
  /** Of those that found their version stale. */
  readonly stale: readonly Effect[];
  /** When a replay of it was staged, by the place in the history; so are all times of this kind. */
  readonly replays: readonly number[];
  /** When it was forgotten. */
  readonly forgotten: readonly number[];
  /** When a person called it applied. */
  readonly marked: readonly number[];
  /** Whether somebody passed over it, so that it need not be applied: an operator, or a rule for what its handler threw. */
  readonly isExcused: boolean;
  /** Whether it was put at the end of its lane, by a redrive or as it was forgotten and came again: its place is another then. */
  readonly isMoved: boolean;
}

/** A record that its database has not lost, and its place in the history. */
export interface Placed {
  readonly record: LogRecord;
  readonly index: number;
}

interface Fact {
  readonly replays: number[];
  readonly marked: number[];
  skipped: number;
  redriven: number;
  isMoved: boolean;
}

/** What the laws of a stored stream need of a run's history. */
export class StoredFacts {
  readonly script: StoredScript;
  /** In the order in which they were stored; what was forgotten may be in it again. */
  readonly kept: readonly KeptEvent[];
  /** What was acknowledged as stored, and is nowhere. */
  readonly missing: readonly number[];
  /** When events were forgotten, by their numbers. */
  readonly forgotten: ReadonlyMap<number, readonly number[]>;
  readonly records: readonly Placed[];
  readonly fates: readonly Fate[];
  readonly effects: readonly Effect[];
  readonly posted: ReadonlySet<number>;

  constructor(script: StoredScript, records: readonly LogRecord[]) {
    this.script = script;
    const events = eventsOf(script);
    const all = records.map((record, index) => ({ record, index })).filter(({ record }) => !record.lost);
    this.kept = all.flatMap(({ record, index }) => {
      const event = record.kind === "kept" ? events.get(record.number) : undefined;
      return event === undefined ? [] : [{ event, at: record.at, index }];
    });
    this.records = all;
    const known = new Set(this.kept.map(({ event }) => event.number));
    this.missing = all.flatMap(({ record }) => {
      const isStored = record.kind === "acknowledged" && record.verdict !== "conflict";
      return isStored && !known.has(record.number) ? [record.number] : [];
    });
    const forgotten = new Map<number, number[]>();
    for (const { record, index } of all) {
      if (record.kind !== "forgotten") continue;
      forgotten.set(record.number, [...(forgotten.get(record.number) ?? []), index]);
    }
    this.forgotten = forgotten;
    this.effects = all.flatMap(({ record, index }) =>
      record.kind === "effect" ? [{ ...record, index }] : [],
    );
    this.posted = new Set(all.flatMap(({ record }) => (record.kind === "posted" ? [record.number] : [])));
    this.fates = this.#fatesOf(all);
  }

  /** The fates of a consumer's events of one key, in the order of storing; of events with a handler alone. */
  laneOf(consumer: string, key: string): readonly Fate[] {
    return this.fates.filter(({ consumer: { name }, kept: { event } }) => {
      return name === consumer && event.key === key;
    });
  }

  get keys(): readonly string[] {
    return [...new Set(this.kept.flatMap(({ event }) => event.key ?? []))];
  }

  #fatesOf(records: readonly Placed[]): readonly Fate[] {
    const facts = new Map<string, Fact>();
    const effects = new Map<string, Effect[]>();
    for (const effect of this.effects)
      effects.set(nameOf(effect), [...(effects.get(nameOf(effect)) ?? []), effect]);
    for (const { record, index } of records) {
      if (!("consumer" in record) || !("number" in record)) continue;
      const name = nameOf(record);
      const fact = facts.get(name) ?? newFact();
      facts.set(name, fact);
      if (record.kind === "threw" && record.what === "skips") fact.skipped = index;
      if (record.kind === "passed_over" && record.said !== "unknown") fact.skipped = Infinity;
      if (record.kind === "passed_over" && record.said !== "unknown") fact.isMoved = true;
      if (record.kind === "redriven" && record.said === "at_end") fact.isMoved = true;
      if (record.kind === "marked") {
        fact.marked.push(index);
        // Its first effect, if any, is a replay.
        fact.isMoved = true;
      }
      if (record.kind !== "staged" || record.said !== "staged") continue;
      if (record.verb === "replay") fact.replays.push(index);
      else [fact.redriven, fact.isMoved] = [index, true];
    }
    const first = new Map(this.kept.toReversed().map((kept) => [kept.event.number, kept]));
    const handled = this.kept.filter((kept) => {
      return kept.event.type !== "note.seen" && first.get(kept.event.number) === kept;
    });
    return this.script.consumers.flatMap((consumer) =>
      handled.map((kept) => {
        const { number } = kept.event;
        const name = nameOf({ consumer: consumer.name, number });
        const { replays, marked, skipped, redriven, isMoved } = facts.get(name) ?? newFact();
        const forgotten = this.forgotten.get(number) ?? [];
        const isExcused = skipped > Math.max(redriven, forgotten.at(-1) ?? -1);
        const all = effects.get(name) ?? [];
        const fresh = all.filter(({ isNewest = true }) => isNewest);
        const stale = all.filter(({ isNewest = true }) => !isNewest);
        // A conflict has no place in the sequence of its key.
        const isBeside = this.script.hold !== undefined && conflictOf(number) !== undefined;
        const isElsewhere = isMoved || isBeside || forgotten.length > 0;
        const times = { replays, forgotten, marked };
        return Object.assign(times, {
          consumer,
          kept,
          effects: fresh,
          stale,
          isExcused,
          isMoved: isElsewhere,
        });
      }),
    );
  }
}

function newFact(): Fact {
  return { replays: [], marked: [], skipped: -1, redriven: -1, isMoved: false };
}

function nameOf({ consumer, number }: { readonly consumer: string; readonly number: number }): string {
  return `${consumer} ${number}`;
}

/** How an event is called in what a law has found. */
export function called({ consumer, kept: { event } }: Pick<Fate, "consumer" | "kept">): string {
  return `event ${event.number} (${event.key ?? "no key"} ${event.version}) at ${consumer.name}`;
}
