import { reach } from "#faults";
import { systemClock } from "../../../clock.js";
import type { DedupVerdict } from "../../../inbox/dedup.js";
import type { InboxErrorCode } from "../../../inbox/inbox-errors.js";
import type { Observer } from "../../../observer.js";
import { notify } from "../../../observer.js";
import { isPosthornError, PosthornError } from "../../../posthorn-error.js";
import { storeFailed } from "../../../store-failed.js";
import { Batcher } from "../../../work/batcher.js";
import type { Pool } from "../client/database.js";
import type { MarkedId, Receipt, ScopedBatch } from "./batch.js";
import { recordBatch, removeExpired, takeMarked } from "./batch.js";
import { GivingBack } from "./give-back.js";
import {
  isAnswerLost,
  isMissing,
  isSaturated,
  isTransient,
  sqlState,
  storeError,
} from "../client/failure.js";

/** Checked and defaulted. */
export interface PooledDedupParts {
  readonly pool: Pool<unknown>;
  readonly table: string;
  readonly scope: string;
  readonly waitMs: number;
  /** Creates the table; undefined when it is not to be created here. */
  readonly migrate: (() => Promise<void>) | undefined;
  readonly cure: string;
  readonly observer: Observer | undefined;
}

/** A caller that waits for its verdict. */
interface Entry extends Receipt {
  readonly endsAt: number;
  readonly settle: (verdict: DedupVerdict) => void;
  readonly fail: (error: PosthornError) => void;
  tries: number;
  /** The marks of inserts whose answers were lost: if there is a row, they say whether one of them was done. */
  marks: readonly string[];
}

const FIRST: DedupVerdict = Object.freeze({ duplicate: false });
const DUPLICATE: DedupVerdict = Object.freeze({ duplicate: true });

const MAX_IDS = 200;
// Acquire timeout, even where `waitMs` is 0: a new connection takes this long.
const MIN_ACQUIRE_MS = 250;
const RETRY_MS = [2, 5, 10, 20, 50, 100];
// A purge may remove twice as many rows as were recorded, so that the table stops growing; few enough to lock them briefly.
const PURGE_EVERY_IDS = 500;
const PURGE_ROWS = 1000;
const PURGE_EVERY_MS = 60_000;
// A writer without our lock holds the row (55P03); too many locks for the server's memory (53200).
const SPLIT = new Set(["55P03", "53200"]);

/** Records ids on a pool. Calls of the same moment share one statement, and no id waits for another. */
export class PooledDedup {
  readonly #parts: PooledDedupParts;
  readonly #batches: Batcher<Entry>;
  readonly #alone: Batcher<Entry>;
  readonly #underWay = new Map<string, Promise<DedupVerdict>>();
  // Ids whose callers got an error though their rows may have been committed. When the sender delivers such an id to
  // this process again, its mark says that it is first; for other processes, its row is removed. Without this, it would be
  // called a duplicate, and the event would be lost.
  readonly #givingBack: GivingBack;
  #migrating: Promise<void> | undefined;
  #migrated = false;
  #recorded = 0;
  #purgedAt = systemClock.monotonic();
  #purging = false;

  constructor(parts: PooledDedupParts) {
    this.#parts = parts;
    const run = (entries: readonly Entry[]): Promise<void> => this.#run(entries);
    this.#batches = new Batcher({ run, maxItems: MAX_IDS, maxBatches: 2 });
    this.#alone = new Batcher({ run, maxItems: 1, maxBatches: 1 });
    this.#givingBack = new GivingBack(parts, (id) => this.#underWay.has(id));
  }

  record(id: string, ttlS: number): Promise<DedupVerdict> {
    const earlier = this.#underWay.get(id);
    // Only the first caller of this process asks the database; the others get its error, or are duplicates.
    if (earlier) return earlier.then(() => DUPLICATE);
    const verdict = new Promise<DedupVerdict>((resolve, reject) => {
      this.#batches.add({
        id,
        ttlS,
        endsAt: systemClock.monotonic() + this.#parts.waitMs,
        tries: 0,
        marks: this.#givingBack.marksOf(id),
        settle: (known) => {
          this.#underWay.delete(id);
          this.#givingBack.drop(id);
          resolve(known);
        },
        fail: (error) => {
          this.#underWay.delete(id);
          reject(error);
        },
      });
    });
    this.#underWay.set(id, verdict);
    return verdict;
  }

  /** Handles a batch to its end: every entry is settled, failed or put back. */
  async #run(entries: readonly Entry[]): Promise<void> {
    const sorted = entries.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const fresh = sorted.filter(({ marks }) => marks.length === 0);
    if (fresh.length > 0) await this.#record(fresh, randomMark());
    if (fresh.length < sorted.length) await this.#resolve(sorted.filter(({ marks }) => marks.length > 0));
  }

  async #record(entries: readonly Entry[], mark: string): Promise<void> {
    const { pool } = this.#parts;
    try {
      reach("dedup.before_record");
      const { first, busy } = await recordBatch(pool, entries, { ...this.#batch(entries), mark });
      reach("dedup.after_record");
      for (const entry of entries) {
        if (first.has(entry.id)) entry.settle(FIRST);
        // A row was in the way; after a lost answer it may be our own, which its mark says.
        else if (busy.has(entry.id) || entry.marks.length > 0) this.#retry(entry);
        else entry.settle(DUPLICATE);
      }
      this.#purgeSometimes(entries.length);
    } catch (error) {
      await this.#failed(entries, error, mark);
    }
  }

  /** After a lost answer: a row of our own mark means that its caller is first. No row: the insert is done again. */
  async #resolve(entries: readonly Entry[]): Promise<void> {
    const { pool } = this.#parts;
    const mark = randomMark();
    let absent = entries;
    try {
      const marked = entries.flatMap(({ id, marks }) => marks.map((each): MarkedId => ({ id, mark: each })));
      reach("dedup.before_resolve");
      const { own, others } = await takeMarked(pool, marked, { ...this.#batch(entries), mark });
      reach("dedup.after_resolve");
      absent = entries.filter(({ id }) => !own.has(id) && !others.has(id));
      for (const entry of entries) {
        if (own.has(entry.id)) entry.settle(FIRST);
        else if (others.has(entry.id)) entry.settle(DUPLICATE);
      }
    } catch (error) {
      return this.#failed(entries, error, mark);
    }
    if (absent.length > 0) await this.#record(absent, mark);
  }

  async #failed(entries: readonly Entry[], error: unknown, mark: string): Promise<void> {
    if (isMissing(error) && this.#parts.migrate && !this.#migrated) return this.#migrateThenRetry(entries);
    if (isSaturated(error) || isTransient(error))
      return entries.forEach((entry) => this.#retry(entry, error));
    if (SPLIT.has(sqlState(error) ?? "")) {
      return entries.forEach((entry) =>
        entries.length > 1 ? this.#alone.add(entry) : this.#retry(entry, error),
      );
    }
    const failure = storeError(error, this.#parts.cure);
    for (const entry of entries) {
      if (!isAnswerLost(error)) entry.fail(failure);
      else {
        entry.marks = [...entry.marks, mark];
        this.#retry(entry, failure);
      }
    }
  }

  async #migrateThenRetry(entries: readonly Entry[]): Promise<void> {
    this.#migrating ??= this.#parts.migrate?.();
    try {
      await this.#migrating;
      this.#migrated = true;
      for (const entry of entries) this.#batches.add(entry);
    } catch (error) {
      // The next call tries again: somebody may have granted the right, or created the table.
      this.#migrating = undefined;
      for (const entry of entries) entry.fail(storeError(error, this.#parts.cure));
    }
  }

  #retry(entry: Entry, cause?: unknown): void {
    if (systemClock.monotonic() >= entry.endsAt) {
      const unavailable = isPosthornError(cause) && !isSaturated(cause);
      entry.fail(unavailable ? cause : dedupBusy(this.#parts.waitMs, cause));
      if (entry.marks.length > 0) this.#givingBack.add(entry.id, entry.marks);
      return;
    }
    const waitMs = RETRY_MS[Math.min(entry.tries, RETRY_MS.length - 1)];
    entry.tries++;
    // A held id only fails its try-lock, and may share a batch again. One that made its batch wait is tried alone.
    const batcher = SPLIT.has(sqlState(cause) ?? "") ? this.#alone : this.#batches;
    setTimeout(() => batcher.add(entry), waitMs);
  }

  #batch(entries: readonly Entry[]): ScopedBatch {
    const { table, scope } = this.#parts;
    return { table, scope, acquireMs: this.#patience(entries) };
  }

  #patience(entries: readonly Entry[]): number {
    const soonest = entries.reduce((endsAt, entry) => Math.min(endsAt, entry.endsAt), Infinity);
    return Math.max(MIN_ACQUIRE_MS, soonest - systemClock.monotonic());
  }

  #purgeSometimes(recorded: number): void {
    this.#recorded += recorded;
    const now = systemClock.monotonic();
    const due = this.#recorded >= PURGE_EVERY_IDS || now - this.#purgedAt >= PURGE_EVERY_MS;
    if (!due || this.#purging) return;
    this.#purging = true;
    this.#recorded = 0;
    this.#purgedAt = now;
    const { pool, table, waitMs, cure, observer } = this.#parts;
    removeExpired(pool, PURGE_ROWS, { table, acquireMs: waitMs })
      .catch((error: unknown) => {
        // No caller waits for a purge. But a table that is never purged grows for ever: the observer is told.
        if (isSaturated(error)) return;
        notify(observer, storeFailed("dedup.purge", storeError(error, cure)));
      })
      .finally(() => (this.#purging = false));
  }
}

/** Neither true nor false is known. Thrown, because a returned value would slip through `if (duplicate)`. */
export function dedupBusy(waitMs: number, cause?: unknown): PosthornError<InboxErrorCode> {
  const found = isSaturated(cause) ? "no connection was free" : "another transaction held the id";
  return new PosthornError(
    "dedup_busy",
    `Whether the id is a duplicate could not be known within ${waitMs} ms: ${found}. Let the sender deliver it again.`,
    { cause },
  );
}

export function randomMark(): string {
  return String(crypto.getRandomValues(new BigInt64Array(1))[0]);
}
