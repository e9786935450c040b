import { storedIdSync } from "../../library/src/inbox/arrival/stored-id.js";
import type { DedupAdapter, DedupBench, DedupVerdict, FakeClock, HostTransaction } from "posthorn/testing";
import { PosthornError } from "posthorn";

/** One way each in which a dedup adapter can be wrong. */
export type DedupFlaw =
  | "none"
  | "check_then_insert"
  | "nobody_wins"
  | "expiry_ignored"
  | "expiry_a_moment_late"
  | "ttl_in_whole_seconds"
  | "expired_won_twice"
  | "duplicate_extends_the_window"
  | "one_ttl_for_all"
  | "insert_outside_the_transaction"
  | "commit_forgets"
  | "held_ids_not_locked"
  | "one_lock_for_all"
  | "duplicate_poisons_the_transaction"
  | "memory_per_process"
  | "forgets_at_once"
  | "one_id_for_all"
  | "ids_normalised"
  | "ids_cut"
  | "plain_object_as_map"
  | "stored_form_not_guarded";

type Row = { expiresAt: number; holder: object | undefined };

const WAIT_MS = 100;

/** A dedup with host transactions in memory, with one flaw; `none` keeps every promise. */
export class NaiveDedup {
  readonly #flaw: DedupFlaw;
  readonly #clock: FakeClock;
  readonly #rows = new Map<string, Row>();
  readonly #poisoned = new Set<object>();

  constructor(flaw: DedupFlaw, clock: FakeClock) {
    this.#flaw = flaw;
    this.#clock = clock;
  }

  bench(): Pick<DedupBench, "adapters" | "begin" | "patienceMs"> {
    const adapter = this.#adapter(undefined);
    // As if each stood in a process of its own; only this flaw makes a difference between them.
    const elsewhere = this.#flaw === "memory_per_process" ? new NaiveDedup("none", this.#clock) : this;
    const adapters = [adapter, elsewhere.#adapter(undefined)];
    return { adapters, begin: () => Promise.resolve(this.#begin()), patienceMs: 400 };
  }

  #begin(): HostTransaction {
    const holder = {};
    const undo = new Map<string, Row | undefined>();
    const end = (keep: boolean): Promise<void> => {
      for (const [key, before] of undo) {
        const row = this.#rows.get(key);
        if (keep && row !== undefined) row.holder = undefined;
        else if (before === undefined) this.#rows.delete(key);
        else this.#rows.set(key, before);
      }
      undo.clear();
      return Promise.resolve();
    };
    const adapter = this.#adapter({ holder, undo });
    return {
      adapter,
      commit: () => end(this.#flaw !== "commit_forgets"),
      rollback: () => end(this.#flaw === "insert_outside_the_transaction"),
    };
  }

  #adapter(transaction: { holder: object; undo: Map<string, Row | undefined> } | undefined): DedupAdapter {
    return {
      record: async (id, ttlS): Promise<DedupVerdict> => {
        const key = this.#keyOf(id);
        if (transaction && this.#poisoned.has(transaction.holder))
          throw new Error("25P02: transaction is aborted");
        await this.#untilFree(key, transaction?.holder);
        const now = this.#clock.monotonic();
        const row = this.#rows.get(key);
        const known = row !== undefined && this.#lives(row, now);
        if (this.#flaw === "check_then_insert" || (this.#flaw === "expired_won_twice" && row)) await tick();
        if (known) return this.#duplicate(row, ttlS, transaction?.holder);
        // Two that insert at the same moment both find the other's row, and both give way.
        if (this.#flaw === "nobody_wins" && row === undefined && (await this.#crowded(key)))
          return { duplicate: true };
        transaction?.undo.set(key, row);
        const holder = this.#flaw === "insert_outside_the_transaction" ? undefined : transaction?.holder;
        this.#rows.set(key, { expiresAt: now + this.#ttlMs(ttlS), holder });
        return { duplicate: false };
      },
    };
  }

  #duplicate(row: Row, ttlS: number, holder: object | undefined): DedupVerdict {
    if (this.#flaw === "duplicate_extends_the_window") row.expiresAt = this.#clock.monotonic() + ttlS * 1000;
    if (this.#flaw === "duplicate_poisons_the_transaction" && holder) this.#poisoned.add(holder);
    return { duplicate: true };
  }

  readonly #crowds = new Map<string, number>();

  async #crowded(key: string): Promise<boolean> {
    this.#crowds.set(key, (this.#crowds.get(key) ?? 0) + 1);
    await tick();
    return (this.#crowds.get(key) ?? 0) > 1;
  }

  async #untilFree(key: string, mine: object | undefined): Promise<void> {
    const endsAt = performance.now() + WAIT_MS;
    while (this.#held(key, mine)) {
      if (this.#flaw !== "one_lock_for_all" && performance.now() > endsAt) throw busy();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  #held(key: string, mine: object | undefined): boolean {
    if (this.#flaw === "held_ids_not_locked") return false;
    const foreign = (row: Row | undefined): boolean => row?.holder !== undefined && row.holder !== mine;
    if (this.#flaw === "one_lock_for_all") return [...this.#rows.values()].some(foreign);
    return foreign(this.#rows.get(key));
  }

  #lives(row: Row, now: number): boolean {
    if (this.#flaw === "held_ids_not_locked" && row.holder !== undefined) return false;
    if (this.#flaw === "expiry_ignored") return true;
    if (this.#flaw === "forgets_at_once") return false;
    return this.#flaw === "expiry_a_moment_late" ? now <= row.expiresAt : now < row.expiresAt;
  }

  #ttlMs(ttlS: number): number {
    if (this.#flaw === "one_ttl_for_all") return this.#clock.monotonic() === 0 ? 2 * 3_600_000 : ttlS * 1000;
    return this.#flaw === "ttl_in_whole_seconds" ? Math.floor(ttlS) * 1000 : ttlS * 1000;
  }

  #keyOf(id: string): string {
    if (this.#flaw === "ids_normalised") return id.normalize("NFC");
    if (this.#flaw === "one_id_for_all") return "id";
    if (this.#flaw === "stored_form_not_guarded") return id.includes("\0") ? storedIdSync(id).id : id;
    if (this.#flaw === "ids_cut") return id.slice(0, 255);
    // What `rows[id] !== undefined` would find on a plain object.
    if (this.#flaw === "plain_object_as_map" && id in {}) throw new TypeError("not a row");
    return id;
  }
}

function busy(): PosthornError {
  return new PosthornError("dedup_busy", "Another transaction holds the id.");
}

function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}
