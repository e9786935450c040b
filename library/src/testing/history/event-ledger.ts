import type { Effect, EventFacts, Replay, Sent } from "./event-facts.js";
import { firstSent, handlingOf, noFacts, noteAnswer, noteEffect, noteLook } from "./event-facts.js";
import { noteReplay, noteSent } from "./event-facts.js";
import type { Finding } from "./finding.js";
import type { EndFacts, Invariant, Registered } from "./invariants.js";
import type { KeyFacts } from "./key-facts.js";
import { noKeyFacts, noteFirst } from "./key-facts.js";
import type { EventName, HistoryRecord, RecordOf } from "./record.js";
import { keyOf } from "./record.js";
import { meaningOf } from "./reply-meaning.js";

type Begun = Sent | Replay | RecordOf<"look", "invoke">;
type Seen = Effect | Registered | RecordOf<"stored", "ok"> | RecordOf<"handling_row", "ok">;

/** What a history says of the events that came in, and of those who were to handle them. */
export class EventLedger {
  readonly #events = new Map<string, EventFacts>();
  readonly #keys = new Map<string, KeyFacts>();
  readonly #consumers = new Map<string, Registered[]>();

  /** Takes what was seen and is over. */
  see(record: Seen): void {
    switch (record.op) {
      case "effect":
        return this.#effect(record);
      case "stored":
        return void (handlingOf(this.#factsOf(record.fields), record.fields).stored = record);
      case "consumer": {
        const { source } = record.fields;
        return void this.#consumers.set(source, [...this.consumersOf(source), record]);
      }
      case "handling_row":
        return void (handlingOf(this.#factsOf(record.fields), record.fields).row ??= record);
    }
  }

  /** Takes what begins, and returns what its end is to be told to. */
  begin(record: Begun): (ended: HistoryRecord) => void {
    const facts = this.#factsOf(record.fields);
    switch (record.op) {
      case "send":
        return this.#send(facts, record);
      case "look":
        return (ended) => {
          if (ended.op === "look" && ended.phase === "ok") noteLook(facts, record, ended);
        };
      case "replay":
        handlingOf(facts, record.fields).asked ??= record;
        return (ended) => noteReplay(facts, record, ended);
    }
  }

  /** Takes what was never answered. */
  unanswered(record: HistoryRecord): void {
    if (record.op === "send" && record.phase === "invoke") this.#factsOf(record.fields).perhapsTaken = true;
  }

  /** Those that are to have the events of a source. */
  consumersOf(source: string): readonly Registered[] {
    return this.#consumers.get(source) ?? [];
  }

  /** An event that was stored for nobody; undefined where there is none. */
  strayed(): EventName | undefined {
    for (const { name, kept } of this.#events.values())
      if (kept && this.consumersOf(name.source).length === 0) return name;
    return undefined;
  }

  *judge(invariant: Invariant, end: EndFacts): Generator<Finding & { event: EventName | undefined }> {
    const ofRun = invariant.judgeRun?.(end);
    if (ofRun) yield { event: undefined, ...ofRun };
    for (const facts of this.#events.values()) {
      const finding = invariant.judge?.(facts, end);
      if (finding) yield { event: facts.name, ...finding };
    }
    for (const key of this.#keys.values()) {
      const finding = invariant.judgeKey?.(key, end);
      if (finding) yield { event: undefined, ...finding };
    }
  }

  #send(facts: EventFacts, record: Sent): (ended: HistoryRecord) => void {
    const isFirst = firstSent(facts) === undefined;
    noteSent(facts, record);
    if (isFirst && record.fields.genuine) this.#keyOf(record.fields)?.events.push(facts);
    return (ended) => {
      // What never left was neither answered nor lost.
      if (ended.op !== "send" || ended.phase === "fail") return;
      if (ended.phase !== "ok") return void (facts.perhapsTaken = true);
      const meaning = meaningOf(ended.fields.status, ended.fields.verdict);
      noteAnswer(facts, { sent: record, reply: ended }, meaning);
    };
  }

  #effect(record: Effect): void {
    const { consumer } = record.fields;
    const facts = this.#factsOf(record.fields);
    const sent = firstSent(facts);
    const isFirst = facts.handlings.every((each) => each.consumer !== consumer || each.effects.length === 0);
    const key = sent && isFirst ? this.#keyOf(sent.fields) : undefined;
    if (consumer !== undefined && key) noteFirst(key, consumer, { facts, effect: record });
    noteEffect(facts, record);
  }

  #factsOf(name: EventName): EventFacts {
    const key = keyOf(name);
    const known = this.#events.get(key);
    if (known !== undefined) return known;
    const facts = noFacts(name);
    this.#events.set(key, facts);
    return facts;
  }

  /** Undefined where the event has none. */
  #keyOf({ tenant, source, key: id }: Sent["fields"]): KeyFacts | undefined {
    if (id === undefined) return undefined;
    const name = keyOf({ tenant, source, id });
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    const key = noKeyFacts(source);
    this.#keys.set(name, key);
    return key;
  }
}
