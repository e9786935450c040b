import { ackImpliesEffect } from "./ack-implies-effect.js";
import { byteFidelity } from "./byte-fidelity.js";
import { effectOnce } from "./effect-once.js";
import type { Invariant, InvariantName, Seen, Sent, Violation, Watch } from "./invariant.js";
import { noPhantom } from "./no-phantom.js";
import type { HistoryRecord, RecordOf } from "./record.js";
import { keyOf } from "./record.js";
import { refusalImpliesNone } from "./refusal-implies-none.js";
import { meaningOf } from "./reply-meaning.js";
import { together } from "./together.js";

const INVARIANTS: readonly Invariant[] = [
  noPhantom,
  effectOnce,
  ackImpliesEffect,
  refusalImpliesNone,
  together,
  byteFidelity,
];

/** What a run came to. */
export interface HistoryReport {
  readonly records: number;
  /** In the order in which they were found; at most a hundred of each invariant. */
  readonly violations: readonly Violation[];
  /** How often each thing happened, as `send.ok.duplicate` or `fault.kill at accept.after_commit`: what was to happen sometimes must have. */
  readonly counts: ReadonlyMap<string, number>;
}

/** Judges a history as it is written. */
export interface HistoryChecker {
  /** Takes the next record. Throws where it cannot follow the ones before it: a broken history proves nothing. */
  observe(record: HistoryRecord): void;
  /** Says what the run came to. Throws when the effects were never read. */
  end(): HistoryReport;
}

/**
 * Makes a checker. It is given the records one by one and keeps a few per event, so that it is linear in the
 * history and never holds it.
 *
 * @example
 * for await (const line of lines) checker.observe(JSON.parse(line));
 * const { violations } = checker.end();
 */
export function createChecker(
  options: { readonly invariants?: readonly InvariantName[] } = {},
): HistoryChecker {
  const { invariants } = options;
  return new Checker(INVARIANTS.filter(({ name }) => invariants?.includes(name) ?? true));
}

/** Checks a history that is at hand. */
export function checkHistory(
  records: Iterable<HistoryRecord>,
  options: { readonly invariants?: readonly InvariantName[] } = {},
): HistoryReport {
  const checker = createChecker(options);
  for (const record of records) checker.observe(record);
  return checker.end();
}

const MOST_PER_INVARIANT = 100;

type Invoked = RecordOf<"send", "invoke"> | RecordOf<"look", "invoke">;

class Checker implements HistoryChecker {
  readonly #watches: readonly Watch[];
  readonly #violations: Violation[] = [];
  readonly #counts = new Map<string, number>();
  readonly #underWay = new Map<string, Invoked>();
  #records = 0;
  #lastN = -Infinity;
  #effects = 0;
  #rows = 0;
  #effectsRead = false;

  constructor(invariants: readonly Invariant[]) {
    this.#watches = invariants.map((invariant) => invariant.watch(this.#complaintsOf(invariant)));
  }

  observe(record: HistoryRecord): void {
    if (record.n <= this.#lastN) throw broken(record, `comes after record ${this.#lastN}`);
    this.#lastN = record.n;
    this.#records++;
    this.#count(record);
    const seen = this.#seenIn(record);
    if (seen !== undefined) this.#show(seen);
  }

  end(): HistoryReport {
    if (!this.#effectsRead)
      throw new Error("The history ends without effects_read: what was lost cannot be known.");
    // Whoever still waits at the end was never answered.
    for (const invoked of this.#underWay.values()) if (invoked.op === "send") this.#show(unanswered(invoked));
    for (const watch of this.#watches) watch.end();
    return { records: this.#records, violations: this.#violations, counts: this.#counts };
  }

  #show(seen: Seen): void {
    for (const watch of this.#watches) watch.see(seen);
  }

  #seenIn(record: HistoryRecord): Seen | undefined {
    switch (record.op) {
      case "send":
      case "look":
        return this.#timed(record);
      case "effect":
        this.#effects++;
        return { kind: "effect", key: keyOf(record.fields), record };
      case "stored":
        this.#rows++;
        return { kind: "stored", key: keyOf(record.fields), record };
      case "effects_read":
        this.#effectsRead = true;
        if (record.fields.rows !== this.#effects) throw broken(record, `follows ${this.#effects} effects`);
        return { kind: "effects_read", record };
      case "inbox_read":
        if (record.fields.rows !== this.#rows) throw broken(record, `follows ${this.#rows} rows`);
        return { kind: "inbox_read", record };
      case "fault":
        return undefined;
    }
  }

  #timed(record: Extract<HistoryRecord, { op: "send" | "look" }>): Seen | undefined {
    if (record.phase === "invoke") {
      if (this.#underWay.has(record.proc))
        throw broken(record, `begins while ${record.proc} does something else`);
      this.#underWay.set(record.proc, record);
      return record.op === "send" ? { kind: "sent", key: keyOf(record.fields), record } : undefined;
    }
    const invoked = this.#underWay.get(record.proc);
    if (invoked?.op !== record.op) throw broken(record, `ends what ${record.proc} had not begun`);
    this.#underWay.delete(record.proc);
    const key = keyOf(invoked.fields);
    if (record.op === "look")
      return record.phase === "ok"
        ? { kind: "looked", key, asked: invoked as RecordOf<"look", "invoke">, record }
        : undefined;
    if (record.phase === "unknown") return unanswered(invoked as Sent);
    // It never left: it counts neither as answered nor as lost.
    if (record.phase === "fail") return undefined;
    const meaning = meaningOf(record.fields.status, record.fields.verdict);
    return { kind: "answered", key, sent: invoked as Sent, record, meaning };
  }

  #count(record: HistoryRecord): void {
    const { op, phase } = record;
    let name = `${op}.${phase}`;
    if (op === "send" && phase === "ok") name += `.${record.fields.verdict ?? record.fields.status}`;
    if (op === "fault") name = `fault.${record.fields.what}`;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  #complaintsOf({ name, promise }: Invariant): Parameters<Invariant["watch"]>[0] {
    let told = 0;
    return (event, found, witness) => {
      if (told++ < MOST_PER_INVARIANT)
        this.#violations.push({ invariant: name, promise, event, found, witness });
    };
  }
}

function unanswered(sent: Sent): Seen {
  return { kind: "unanswered", key: keyOf(sent.fields), sent };
}

function broken(record: HistoryRecord, found: string): Error {
  return new Error(`The history is broken at record ${record.n}: ${record.op}.${record.phase} ${found}.`);
}
