import type { LogRecord, SightingOf } from "../../world/run-log.js";
import type { ConsumerPlan, StoredScript, StreamedEvent } from "../../stored/script.js";
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
  /** How often its handler found its version stale. */
  readonly stale: number;
  /** How often a replay of it was staged. */
  readonly replays: number;
  /** Whether somebody passed over it, so that it need not be applied: an operator, or a rule for what its handler threw. */
  readonly isExcused: boolean;
  /** Whether it was put at the end of its lane by a redrive: its place is another then. */
  readonly isMoved: boolean;
}

/** What the laws of a stored stream need of a run's history. */
export class StoredFacts {
  readonly script: StoredScript;
  /** In the order in which they were stored. */
  readonly kept: readonly KeptEvent[];
  /** What was acknowledged and is nowhere. */
  readonly forgotten: readonly number[];
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
    const known = new Set(this.kept.map(({ event }) => event.number));
    this.forgotten = all.flatMap(({ record }) =>
      record.kind === "acknowledged" && !known.has(record.number) ? [record.number] : [],
    );
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

  #fatesOf(records: readonly { readonly record: LogRecord; readonly index: number }[]): readonly Fate[] {
    const facts = new Map<string, { replays: number; skipped: number; redriven: number; isMoved: boolean }>();
    const effects = new Map<string, Effect[]>();
    for (const effect of this.effects)
      effects.set(nameOf(effect), [...(effects.get(nameOf(effect)) ?? []), effect]);
    for (const { record, index } of records) {
      if (!("consumer" in record) || !("number" in record)) continue;
      const name = nameOf(record);
      const fact = facts.get(name) ?? { replays: 0, skipped: -1, redriven: -1, isMoved: false };
      facts.set(name, fact);
      if (record.kind === "threw" && record.what === "skips") fact.skipped = index;
      if (record.kind === "passed_over" && record.said !== "unknown") fact.skipped = Infinity;
      if (record.kind === "passed_over" && record.said !== "unknown") fact.isMoved = true;
      if (record.kind === "redriven" && record.said === "at_end") fact.isMoved = true;
      if (record.kind !== "staged" || record.said !== "staged") continue;
      if (record.verb === "replay") fact.replays += 1;
      else [fact.redriven, fact.isMoved] = [index, true];
    }
    return this.script.consumers.flatMap((consumer) =>
      this.kept
        .filter(({ event }) => event.type !== "note.seen")
        .map((kept) => {
          const name = nameOf({ consumer: consumer.name, number: kept.event.number });
          const { replays = 0, skipped = -1, redriven = -1, isMoved = false } = facts.get(name) ?? {};
          const isExcused = skipped > redriven;
          const all = effects.get(name) ?? [];
          const fresh = all.filter(({ isNewest = true }) => isNewest);
          const stale = all.length - fresh.length;
          return { consumer, kept, effects: fresh, stale, replays, isExcused, isMoved };
        }),
    );
  }
}

function nameOf({ consumer, number }: { readonly consumer: string; readonly number: number }): string {
  return `${consumer} ${number}`;
}

/** How an event is called in what a law has found. */
export function called({ consumer, kept: { event } }: Pick<Fate, "consumer" | "kept">): string {
  return `event ${event.number} (${event.key ?? "no key"} ${event.version}) at ${consumer.name}`;
}
