import { CONSUMER_INVARIANTS } from "./consumer-invariants.js";
import { EventLedger } from "./event-ledger.js";
import type { Finding } from "./finding.js";
import type { EndFacts, Invariant, InvariantName } from "./invariants.js";
import { INVARIANTS } from "./invariants.js";
import type { OutboxInvariant } from "./outbox-invariants.js";
import { OUTBOX_INVARIANTS } from "./outbox-invariants.js";
import { isOutboxRecord, OutboxLedger } from "./outbox-ledger.js";
import type { EventName, HistoryRecord, RecordOf } from "./record.js";

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
  /** Says what the run came to. Throws when the effects, or an outbox that was published to, were never read. */
  end(): HistoryReport;
}

/** What a checker looks for. */
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
  const asked = ({ name }: { readonly name: InvariantName }): boolean => invariants?.includes(name) ?? true;
  const ofEvents = [...INVARIANTS, ...CONSUMER_INVARIANTS];
  return new Checker(ofEvents.filter(asked), OUTBOX_INVARIANTS.filter(asked));
}

/** Checks a history that is at hand. */
export function checkHistory(records: Iterable<HistoryRecord>, options: CheckerOptions = {}): HistoryReport {
  const checker = createChecker(options);
  for (const record of records) checker.observe(record);
  return checker.end();
}

const MOST_PER_INVARIANT = 100;

/** What is told of the end of something under way. */
interface UnderWay {
  readonly invoked: HistoryRecord;
  readonly end: (ended: HistoryRecord) => void;
}

class Checker implements HistoryChecker {
  readonly #invariants: readonly Invariant[];
  readonly #outboxInvariants: readonly OutboxInvariant[];
  readonly #events = new EventLedger();
  readonly #outbox = new OutboxLedger();
  readonly #underWay = new Map<string, UnderWay>();
  readonly #counts = new Map<string, number>();
  #records = 0;
  #lastN = -Infinity;
  #effects: EndFacts["effects"];
  #inbox: EndFacts["inbox"];
  #outboxRead = false;

  constructor(invariants: readonly Invariant[], outboxInvariants: readonly OutboxInvariant[]) {
    this.#invariants = invariants;
    this.#outboxInvariants = outboxInvariants;
  }

  observe(record: HistoryRecord): void {
    if (record.n <= this.#lastN) throw broken(record, `comes after record ${this.#lastN}`);
    this.#lastN = record.n;
    this.#records++;
    this.#note(record);
    for (const name of countedAs(record)) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  end(): HistoryReport {
    if (!this.#effects && (this.#counts.has("send.invoke") || !this.#outboxRead))
      throw new Error("The history ends without effects_read: what was lost cannot be known.");
    if (!this.#outboxRead && this.#counts.has("publish.invoke"))
      throw new Error("The history ends without outbox_read: what was lost cannot be known.");
    // Whoever still waits at the end was never answered.
    for (const { invoked } of this.#underWay.values()) this.#events.unanswered(invoked);
    const strayed = this.#events.strayed();
    if (strayed)
      throw new Error(
        `The history ends without a consumer of ${strayed.source}, whose events were stored: what was lost cannot be known.`,
      );
    const consumersOf: EndFacts["consumersOf"] = (source) => this.#events.consumersOf(source);
    const end: EndFacts = { effects: this.#effects, inbox: this.#inbox, consumersOf };
    const violations = [
      ...this.#invariants.flatMap((each) => violationsOf(each, this.#events.judge(each, end))),
      ...this.#outboxInvariants.flatMap((each) => violationsOf(each, this.#outbox.judge(each))),
    ];
    return { records: this.#records, violations, counts: this.#counts };
  }

  #note(record: HistoryRecord): void {
    if (record.phase === "invoke") return this.#begin(record);
    if (isEnd(record)) return this.#finish(record);
    if (isOutboxRecord(record)) {
      if (record.op === "outbox_read") this.#outboxComplete(record);
      return this.#outbox.see(record);
    }
    switch (record.op) {
      case "effect":
      case "stored":
      case "consumer":
      case "handling_row":
        return this.#events.see(record);
      case "effects_read":
        return void (this.#effects = this.#complete(record, "effect.ok"));
      case "inbox_read":
        return void (this.#inbox = this.#complete(record, "stored.ok"));
      case "fault":
        return this.#outbox.interrupted(record);
    }
  }

  #begin(invoked: Extract<HistoryRecord, { phase: "invoke" }>): void {
    if (this.#underWay.has(invoked.proc))
      throw broken(invoked, `begins while ${invoked.proc} does something else`);
    const end = isOutboxRecord(invoked) ? this.#outbox.begin(invoked) : this.#events.begin(invoked);
    this.#underWay.set(invoked.proc, { invoked, end });
  }

  #finish(record: TimedEnd): void {
    const begun = this.#underWay.get(record.proc);
    if (begun?.invoked.op !== record.op) throw broken(record, `ends what ${record.proc} had not begun`);
    this.#underWay.delete(record.proc);
    begun.end(record);
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

  #outboxComplete(record: RecordOf<"outbox_read", "ok">): void {
    const { events, attempts, deliveries, business } = record.fields;
    const said = { event: events, attempt: attempts, delivery: deliveries, business };
    for (const [what, rows] of Object.entries(said)) {
      const seen = this.#counts.get(`${what}_row.ok`) ?? 0;
      if (rows !== seen) throw broken(record, `says ${rows} rows of ${what} and follows ${seen}`);
    }
    this.#outboxRead = true;
  }
}

function violationsOf(
  { name, promise }: Pick<Invariant | OutboxInvariant, "name" | "promise">,
  findings: Iterable<Finding & { readonly event: EventName | undefined }>,
): Violation[] {
  const violations: Violation[] = [];
  for (const finding of findings) {
    if (violations.length >= MOST_PER_INVARIANT) break;
    violations.push({ invariant: name, promise, ...finding });
  }
  return violations;
}

type TimedEnd = Extract<
  HistoryRecord,
  { op: "send" | "look" | "replay" | "publish" | "receipt" | "operate"; phase: "ok" | "fail" | "unknown" }
>;

const TIMED: ReadonlySet<string> = new Set(["send", "look", "replay", "publish", "receipt", "operate"]);

function isEnd(record: Exclude<HistoryRecord, { phase: "invoke" }>): record is TimedEnd {
  return TIMED.has(record.op);
}

function countedAs(record: HistoryRecord): readonly string[] {
  const { op, phase } = record;
  const plain = `${op}.${phase}`;
  if (phase !== "ok") return [plain];
  if (op === "fault") return [`fault.${record.fields.what}`];
  if (op === "send") return [`send.ok.${record.fields.verdict ?? record.fields.status}`];
  if (op === "replay") return [`replay.ok.${record.fields.answer}`];
  if (op === "receipt") return [`receipt.ok.${record.fields.status}`];
  if (op === "attempt_row") return [plain, `attempt.${record.fields.outcome}`];
  if (op === "delivery_row") return [plain, `delivery.${record.fields.state}.${record.fields.because ?? ""}`];
  return [plain];
}

function broken(record: HistoryRecord, found: string): Error {
  return new Error(`The history is broken at record ${record.n}: ${record.op}.${record.phase} ${found}.`);
}
