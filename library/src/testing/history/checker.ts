import type { EventFacts } from "./event-facts.js";
import { noFacts, noteAnswer, noteEffect, noteLook, noteSent } from "./event-facts.js";
import type { EndFacts, Finding, Invariant, InvariantName } from "./invariants.js";
import { INVARIANTS } from "./invariants.js";
import type { EventName, HistoryRecord, RecordOf } from "./record.js";
import { keyOf } from "./record.js";
import { meaningOf } from "./reply-meaning.js";

/** A broken promise. */
export interface Violation extends Finding {
  readonly invariant: InvariantName;
  readonly promise: string;
  /** Undefined where it concerns no single event. */
  readonly event: EventName | undefined;
}

/** What a run came to. */
export interface HistoryReport {
  readonly records: number;
  /** By invariant; at most a hundred of each. */
  readonly violations: readonly Violation[];
  /** How often each thing happened, as `send.ok.duplicate` or `fault.kill`: what was to happen sometimes must have. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Judges a history as it is written. */
export interface HistoryChecker {
  /** Takes the next record. Throws where it cannot follow the ones before it: a broken history proves nothing. */
  observe(record: HistoryRecord): void;
  /** Says what the run came to. Throws when the effects were never read. */
  end(): HistoryReport;
}

export interface CheckerOptions {
  /** @default all */
  readonly invariants?: readonly InvariantName[];
}

/**
 * Makes a checker. It is given the records one by one and keeps a few per event, so that it is linear in the
 * history and never holds it.
 *
 * @example
 * for await (const line of lines) checker.observe(JSON.parse(line));
 * const { violations } = checker.end();
 */
export function createChecker({ invariants }: CheckerOptions = {}): HistoryChecker {
  return new Checker(INVARIANTS.filter(({ name }) => invariants?.includes(name) ?? true));
}

/** Checks a history that is at hand. */
export function checkHistory(records: Iterable<HistoryRecord>, options: CheckerOptions = {}): HistoryReport {
  const checker = createChecker(options);
  for (const record of records) checker.observe(record);
  return checker.end();
}

const MOST_PER_INVARIANT = 100;

type Timed = Extract<HistoryRecord, { op: "send" | "look" }>;

interface UnderWay {
  readonly facts: EventFacts;
  readonly record: RecordOf<"send", "invoke"> | RecordOf<"look", "invoke">;
}

class Checker implements HistoryChecker {
  readonly #invariants: readonly Invariant[];
  readonly #events = new Map<string, EventFacts>();
  readonly #underWay = new Map<string, UnderWay>();
  readonly #counts = new Map<string, number>();
  #records = 0;
  #lastN = -Infinity;
  #effects: EndFacts["effects"] | undefined;
  #inbox: EndFacts["inbox"];

  constructor(invariants: readonly Invariant[]) {
    this.#invariants = invariants;
  }

  observe(record: HistoryRecord): void {
    if (record.n <= this.#lastN) throw broken(record, `comes after record ${this.#lastN}`);
    this.#lastN = record.n;
    this.#records++;
    this.#note(record);
    const name = countedAs(record);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  end(): HistoryReport {
    if (!this.#effects)
      throw new Error("The history ends without effects_read: what was lost cannot be known.");
    // Whoever still waits at the end was never answered.
    for (const { facts, record } of this.#underWay.values())
      if (record.op === "send") facts.perhapsTaken = true;
    const end: EndFacts = { effects: this.#effects, inbox: this.#inbox };
    const violations = this.#invariants.flatMap((invariant) => this.#violationsOf(invariant, end));
    return { records: this.#records, violations, counts: this.#counts };
  }

  #note(record: HistoryRecord): void {
    switch (record.op) {
      case "send":
      case "look":
        return record.phase === "invoke" ? this.#begin(record) : this.#finish(record);
      case "effect":
        return noteEffect(this.#factsOf(record.fields), record);
      case "stored":
        this.#factsOf(record.fields).stored = record;
        return;
      case "effects_read":
        return void (this.#effects = this.#complete(record, "effect.ok"));
      case "inbox_read":
        return void (this.#inbox = this.#complete(record, "stored.ok"));
      case "fault":
    }
  }

  #begin(record: UnderWay["record"]): void {
    if (this.#underWay.has(record.proc))
      throw broken(record, `begins while ${record.proc} does something else`);
    const facts = this.#factsOf(record.fields);
    this.#underWay.set(record.proc, { facts, record });
    if (record.op === "send") noteSent(facts, record);
  }

  #finish(record: Exclude<Timed, UnderWay["record"]>): void {
    const begun = this.#underWay.get(record.proc);
    if (begun?.record.op !== record.op) throw broken(record, `ends what ${record.proc} had not begun`);
    this.#underWay.delete(record.proc);
    const { facts, record: invoked } = begun;
    // What never left was neither answered nor lost.
    if (record.phase === "fail") return;
    if (record.op === "look") return record.phase === "ok" ? noteLook(facts, invoked, record) : undefined;
    if (record.phase === "unknown" || invoked.op !== "send") return void (facts.perhapsTaken = true);
    const meaning = meaningOf(record.fields.status, record.fields.verdict);
    noteAnswer(facts, { sent: invoked, reply: record }, meaning);
  }

  #factsOf(name: EventName): EventFacts {
    const key = keyOf(name);
    const known = this.#events.get(key);
    if (known !== undefined) return known;
    const facts = noFacts(name);
    this.#events.set(key, facts);
    return facts;
  }

  #complete<Read extends NonNullable<EndFacts["effects"] | EndFacts["inbox"]>>(
    record: Read,
    what: string,
  ): Read {
    const seen = this.#counts.get(what) ?? 0;
    if (record.fields.rows !== seen)
      throw broken(record, `says ${record.fields.rows} rows and follows ${seen}`);
    return record;
  }

  #violationsOf({ name: invariant, promise, ...rules }: Invariant, end: EndFacts): Violation[] {
    const violations: Violation[] = [];
    const ofRun = rules.judgeRun?.(end);
    if (ofRun) violations.push({ invariant, promise, event: undefined, ...ofRun });
    for (const facts of this.#events.values()) {
      if (violations.length >= MOST_PER_INVARIANT) break;
      const finding = rules.judge(facts, end);
      if (finding) violations.push({ invariant, promise, event: facts.name, ...finding });
    }
    return violations;
  }
}

function countedAs(record: HistoryRecord): string {
  const { op, phase } = record;
  if (op === "fault") return `fault.${record.fields.what}`;
  if (op !== "send" || phase !== "ok") return `${op}.${phase}`;
  return `send.ok.${record.fields.verdict ?? record.fields.status}`;
}

function broken(record: HistoryRecord, found: string): Error {
  return new Error(`The history is broken at record ${record.n}: ${record.op}.${record.phase} ${found}.`);
}
