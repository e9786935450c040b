import type { MemoryTx, RefusedEvent } from "posthorn/memory";
import type { FakeClock } from "posthorn/testing";
import { equalBytes } from "../../library/src/bytes.js";
import type {
  Acceptance,
  AcceptLimits,
  Arrival,
  Handled,
  InboxKey,
  InboxRow,
  KnownEvent,
  PurgeLimits,
  PurgeReport,
  RefusedBecause,
} from "../../library/src/inbox/inbox-store.js";
import type { StoreCapabilities } from "../../library/src/store-capabilities.js";
import { isPosthornError, PosthornError } from "../../library/src/posthorn-error.js";
import type { InProcessInbox, NaiveMeans } from "./memory-harness.js";
import { NaiveSession } from "./naive-session.js";

/** One way each in which an inbox store can be wrong. */
export type InboxFlaw =
  | "none"
  | "claims_more"
  | "unknown_invented"
  | "known_denied"
  | "duplicate_applied"
  | "writes_dropped"
  | "purge_does_nothing"
  | "window_in_minutes"
  | "window_ends_with_the_purge"
  | "failure_of_the_passed_dropped"
  | "touch_creates"
  | "ids_cut"
  | "headers_rewritten"
  | "time_invented"
  | "check_then_insert"
  | "waits_instead_of_busy"
  | "one_lock_for_all"
  | "row_seen_before_commit"
  | "insert_outside_the_transaction"
  | "writes_outside_the_transaction"
  | "commit_not_refused"
  | "rollback_not_refused"
  | "transaction_not_proved"
  | "aborted_called_applied"
  | "saturated_waits"
  | "unknown_called_failed"
  | "error_swallowed"
  | "signal_ignored"
  | "skipped_forgotten"
  | "skipped_without_its_reason"
  | "skipped_forgets_its_failure"
  | "skipped_never_taken_over"
  | "failure_of_the_skipped_dropped"
  | "keys_joined"
  | "conflict_applied"
  | "conflict_called_duplicate"
  | "failed_never_taken_over"
  | "failed_compared_by_body"
  | "takeover_not_locked"
  | "attempts_not_counted"
  | "failure_overwrites_success"
  | "failure_without_its_key"
  | "failure_text_refused"
  | "type_refused"
  | "result_parsed"
  | "purge_removes_failed"
  | "purge_removes_unexpired"
  | "purge_without_limit"
  | "purge_newest_first"
  | "window_from_first_receipt"
  | "kept_for_ever_is_zero"
  | "touch_ignored"
  | "touch_makes_windows_shorter"
  | "touch_always_counted"
  | "touch_not_counted"
  | "touch_once_a_minute"
  | "touch_of_the_failed"
  | "failed_keeps_its_window"
  | "window_from_the_failure"
  | "body_as_text"
  | "body_not_copied"
  | "refused_into_the_inbox"
  | "refused_without_bytes";

type Stored = InboxRow & { readonly keepUntil: Date | undefined };

/** A store in memory with one flaw; `none` keeps every promise. Written apart from the memory store, as a second reading of the port. */
export class NaiveInbox implements InProcessInbox {
  readonly capabilities: StoreCapabilities;
  readonly transactions = "asynchronous";
  readonly #flaw: InboxFlaw;
  readonly #clock: FakeClock;
  readonly #rows = new Map<string, Stored>();
  readonly #applying = new Map<string, Promise<unknown>>();
  readonly #refused: RefusedEvent[] = [];
  readonly #touchedAt = new Map<string, number>();
  #saturated: Promise<void> | undefined;
  #losesAnswer = false;

  constructor(flaw: InboxFlaw, clock: FakeClock) {
    this.#flaw = flaw;
    this.#clock = clock;
    this.capabilities = {
      sharesHostTransaction: true,
      survivesPowerLoss: flaw === "claims_more",
      multiProcess: false,
      clock: "process",
    };
  }

  /** What the kit may do to it. */
  means(): NaiveMeans {
    return {
      run: (tx, statement) => (tx as NaiveSession).run(statement),
      saturate: () => {
        const gate = new EventTarget();
        this.#saturated = new Promise((resolve) => gate.addEventListener("free", () => resolve()));
        return Promise.resolve(() => {
          this.#saturated = undefined;
          return Promise.resolve(void gate.dispatchEvent(new Event("free")));
        });
      },
      unanswered: { store: this, arm: () => (this.#losesAnswer = true) },
    };
  }

  find(key: InboxKey): Promise<KnownEvent | undefined> {
    const invented = { outcome: "success", bodyHash: new Uint8Array(32), receivedAt: new Date() } as const;
    if (this.#flaw === "known_denied") return Promise.resolve(undefined);
    const row = this.#keptRow(key);
    return Promise.resolve(this.#flaw === "unknown_invented" ? (row ?? invented) : row);
  }

  read(key: InboxKey): Promise<InboxRow | undefined> {
    const row = this.#rows.get(this.#keyOf(key));
    return Promise.resolve(
      row && { ...row, body: this.#flaw === "body_not_copied" ? row.body : row.body?.slice() },
    );
  }

  async accept(
    arrival: Arrival,
    work: (tx: MemoryTx) => Promise<Handled> | Handled,
    { signal }: AcceptLimits,
  ): Promise<Acceptance> {
    if (this.#flaw === "type_refused" && arrival.type.includes("\0"))
      throw new Error("invalid byte sequence: 0x00");
    if (this.#saturated !== undefined && this.#flaw !== "saturated_waits") return { kind: "saturated" };
    await this.#saturated;
    const key = this.#keyOf(arrival);
    const known = this.#judge(arrival);
    if (known) return known;
    const other =
      this.#flaw === "one_lock_for_all" ? [...this.#applying.values()][0] : this.#applying.get(key);
    if (other !== undefined && !this.#letsIn(key)) {
      if (this.#flaw !== "waits_instead_of_busy" && this.#flaw !== "one_lock_for_all")
        return { kind: "busy" };
      await other;
      return this.accept(arrival, work, { acquireMs: 0, signal });
    }
    const running = this.#run(arrival, work, signal);
    this.#applying.set(key, running);
    try {
      return await running;
    } finally {
      this.#applying.delete(key);
    }
  }

  fail(arrival: Arrival, error: string): Promise<void> {
    const key = this.#keyOf(arrival);
    const before = this.#rows.get(key);
    const isPast = this.#keptRow(arrival) === undefined && this.#flaw !== "failure_of_the_passed_dropped";
    const settled = before?.outcome === "success" && !isPast;
    if (settled && this.#flaw !== "failure_overwrites_success") return Promise.resolve();
    if (before?.outcome === "skipped" && this.#flaw === "failure_of_the_skipped_dropped")
      return Promise.resolve();
    if (this.#flaw === "failure_text_refused" && error.includes("\0")) {
      return Promise.reject(new Error("invalid byte sequence: 0x00"));
    }
    const row = this.#row(arrival, before);
    const keepUntil = this.#flaw === "failed_keeps_its_window" ? row.keepUntil : undefined;
    const of = this.#flaw === "failure_without_its_key" ? undefined : arrival.key;
    this.#rows.set(key, { ...row, key: of, keepUntil, outcome: "failed", result: undefined, error });
    return Promise.resolve();
  }

  refuse(arrival: Arrival, because: RefusedBecause): Promise<void> {
    const refusedAt = new Date(this.#clock.now());
    const body = this.#flaw === "refused_without_bytes" ? new Uint8Array() : arrival.body.slice();
    this.#refused.push({ ...arrival, body, because, refusedAt });
    return this.#flaw === "refused_into_the_inbox" ? this.fail(arrival, because) : Promise.resolve();
  }

  refused(): readonly RefusedEvent[] {
    return this.#refused;
  }

  touch(arrival: Arrival): void {
    const key = this.#keyOf(arrival);
    const row = this.#rows.get(key);
    if (row === undefined && this.#flaw === "touch_creates")
      this.#store(arrival, row, { outcome: "success" });
    if (row === undefined || this.#flaw === "touch_ignored") return;
    if (row.outcome === "failed" && this.#flaw !== "touch_of_the_failed") return;
    const now = new Date(this.#clock.now());
    if (now.getTime() - (this.#touchedAt.get(key) ?? -Infinity) < this.#restMs(arrival)) return;
    this.#touchedAt.set(key, now.getTime());
    const keepUntil = this.#touchedUntil(arrival.windowS, row);
    const receipts = row.receipts + (this.#flaw === "touch_not_counted" ? 0 : 1);
    this.#rows.set(key, { ...row, lastReceivedAt: now, receipts, keepUntil });
  }

  /** How long a second duplicate is not worth a write. */
  #restMs({ windowS = Infinity }: Arrival): number {
    if (this.#flaw === "touch_always_counted") return 0;
    return this.#flaw === "touch_once_a_minute" ? 60_000 : Math.min(60_000, windowS * 500);
  }

  #touchedUntil(windowS: number | undefined, row: Stored): Date | undefined {
    const again = this.#keepUntil(windowS, row);
    if (this.#flaw === "touch_makes_windows_shorter") return again;
    if (row.keepUntil === undefined || again === undefined) return undefined;
    return again > row.keepUntil ? again : row.keepUntil;
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  purge({ maxRows }: PurgeLimits): Promise<PurgeReport> {
    if (this.#flaw === "purge_does_nothing") return Promise.resolve({ removed: 0, more: false });
    const passed = [...this.#rows].filter(([, row]) => this.#mayGo(row));
    const sorted = passed.toSorted(([, a], [, b]) => Number(a.keepUntil) - Number(b.keepUntil));
    if (this.#flaw === "purge_newest_first") sorted.reverse();
    const removed = this.#flaw === "purge_without_limit" ? sorted : sorted.slice(0, maxRows);
    for (const [key] of removed) this.#rows.delete(key);
    return Promise.resolve({ removed: removed.length, more: removed.length < passed.length });
  }

  #judge(arrival: Arrival): Acceptance | undefined {
    const row = this.#keptRow(arrival);
    if (row === undefined || this.#flaw === "duplicate_applied") return undefined;
    const same = equalBytes(row.bodyHash, arrival.bodyHash);
    if (row.outcome === "skipped")
      return this.#flaw === "skipped_never_taken_over" ? { kind: "duplicate", known: row } : undefined;
    if (row.outcome === "failed") {
      if (this.#flaw === "failed_never_taken_over") return { kind: "duplicate", known: row };
      return this.#flaw === "failed_compared_by_body" && !same ? { kind: "conflict", known: row } : undefined;
    }
    if (same || this.#flaw === "conflict_called_duplicate") return { kind: "duplicate", known: row };
    return this.#flaw === "conflict_applied" ? undefined : { kind: "conflict", known: row };
  }

  /** Whether a second one may run beside the first. */
  #letsIn(key: string): boolean {
    if (this.#flaw === "check_then_insert") return !this.#rows.has(key);
    return this.#flaw === "takeover_not_locked" && this.#rows.has(key);
  }

  async #run(
    arrival: Arrival,
    work: (tx: MemoryTx) => Promise<Handled> | Handled,
    signal: AbortSignal,
  ): Promise<Acceptance> {
    const key = this.#keyOf(arrival);
    const before = this.#rows.get(key);
    const early = ["insert_outside_the_transaction", "row_seen_before_commit"].includes(this.#flaw);
    if (early) this.#store(arrival, before, { outcome: "success" });
    const tx = new NaiveSession(this.#flaw, () => this.#store(arrival, before, { outcome: "success" }));
    try {
      const cut = this.#flaw === "signal_ignored" ? [] : [aborted(signal)];
      const handled = await Promise.race([Promise.resolve(work(tx)), ...cut]);
      const forgotten = this.#flaw === "skipped_forgotten" && handled.outcome === "skipped";
      const row = forgotten ? () => undefined : () => this.#store(arrival, before, handled);
      tx.commit(row);
      if (this.#losesAnswer) {
        this.#losesAnswer = false;
        throw new PosthornError("store_commit_unknown", "No answer.");
      }
      return { kind: "applied", attempt: this.#attempts(before) };
    } catch (error) {
      const unknown = isPosthornError(error) && error.code === "store_commit_unknown";
      if (unknown && this.#flaw !== "unknown_called_failed") throw error;
      if (this.#flaw === "row_seen_before_commit") this.#rows.delete(key);
      return {
        kind: "failed",
        error: this.#flaw === "error_swallowed" ? new Error("handler failed") : error,
      };
    }
  }

  #store(arrival: Arrival, before: Stored | undefined, { outcome, result, because }: Handled): void {
    const parsed = result && this.#flaw === "result_parsed" ? sortedJson(result) : result;
    const row = this.#row(arrival, before);
    const why = this.#flaw === "skipped_without_its_reason" ? undefined : because;
    const error = why ?? (this.#flaw === "skipped_forgets_its_failure" ? undefined : before?.error);
    this.#rows.set(this.#keyOf(arrival), { ...row, outcome, result: parsed, error });
  }

  #row(arrival: Arrival, before: Stored | undefined): Omit<Stored, "outcome" | "result" | "error"> {
    const now = new Date(this.#clock.now());
    const { windowS, ...kept } = arrival;
    return {
      ...kept,
      ...(this.#flaw === "headers_rewritten" && { headers: sortedJson(arrival.headers) }),
      ...(this.#flaw === "time_invented" && { eventAt: arrival.eventAt ?? now }),
      body: this.#bodyOf(arrival),
      bodyHash: arrival.bodyHash.slice(),
      receivedAt: before?.receivedAt ?? now,
      lastReceivedAt: now,
      keepUntil: this.#keepUntil(windowS, before),
      attempts: this.#attempts(before),
      receipts: (before?.receipts ?? 0) + 1,
    };
  }

  #attempts(before: Stored | undefined): number {
    return this.#flaw === "attempts_not_counted" ? 1 : (before?.attempts ?? 0) + 1;
  }

  #keepUntil(windowS: number | undefined, before: Stored | undefined): Date | undefined {
    if (windowS === undefined && this.#flaw !== "kept_for_ever_is_zero") return undefined;
    const from = this.#windowStart(before)?.getTime();
    return new Date(
      (from ?? this.#clock.now()) + (windowS ?? 0) * (this.#flaw === "window_in_minutes" ? 60_000 : 1000),
    );
  }

  /** Undefined: now. */
  #windowStart(before: Stored | undefined): Date | undefined {
    if (this.#flaw === "window_from_first_receipt") return before?.receivedAt;
    return this.#flaw === "window_from_the_failure" ? before?.lastReceivedAt : undefined;
  }

  /** Undefined also where its window has passed, whether or not a purge has removed it. */
  #keptRow(key: InboxKey): Stored | undefined {
    const row = this.#rows.get(this.#keyOf(key));
    const isPast = Number(row?.keepUntil ?? Infinity) <= this.#clock.now();
    return isPast && this.#flaw !== "window_ends_with_the_purge" ? undefined : row;
  }

  #mayGo({ outcome, keepUntil }: Stored): boolean {
    if (outcome === "failed") return this.#flaw === "purge_removes_failed";
    if (keepUntil === undefined) return false;
    return this.#flaw === "purge_removes_unexpired" || keepUntil.getTime() <= this.#clock.now();
  }

  #bodyOf({ body }: Arrival): Uint8Array {
    if (this.#flaw === "body_as_text") return new TextEncoder().encode(new TextDecoder().decode(body));
    return this.#flaw === "body_not_copied" ? body : body.slice();
  }

  #keyOf({ tenant, source, id }: InboxKey): string {
    if (this.#flaw === "ids_cut") return [tenant, source, id.slice(0, 250)].join("\n");
    return this.#flaw === "keys_joined" ? `${tenant}:${source}:${id}` : JSON.stringify([tenant, source, id]);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
}

/** What a database that stores JSON as a value gives back. */
function sortedJson(text: string): string {
  const value = JSON.parse(text) as unknown;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return JSON.stringify(Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))));
}
