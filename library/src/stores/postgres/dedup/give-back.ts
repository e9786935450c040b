import { notify } from "../../../observer.js";
import type { Observer } from "../../../observer.js";
import { storeFailed } from "../../../store-failed.js";
import type { Pool } from "../client/database.js";
import { storeError } from "../client/failure.js";
import type { MarkedId } from "./batch.js";
import { removeMarked } from "./batch.js";

export interface GiveBackParts {
  readonly pool: Pool<unknown>;
  readonly table: string;
  readonly scope: string;
  readonly cure: string;
  readonly observer: Observer | undefined;
}

const MAX_IDS = 10_000;
const IDS_PER_STATEMENT = 200;
const ACQUIRE_MS = 1000;
const WAIT_MS = [0, 50, 200, 1000, 5000];

/**
 * Ids whose callers got an error though a row of theirs may have been committed. Their rows are removed by id and mark as
 * soon as the database answers: left there, the next delivery at another process would be called a duplicate, though
 * nobody was ever told first.
 */
export class GivingBack {
  readonly #parts: GiveBackParts;
  readonly #isUnderWay: (id: string) => boolean;
  readonly #marks = new Map<string, readonly string[]>();
  #running = false;

  constructor(parts: GiveBackParts, isUnderWay: (id: string) => boolean) {
    this.#parts = parts;
    this.#isUnderWay = isUnderWay;
  }

  /** The marks of an id that is still to be given back. */
  marksOf(id: string): readonly string[] {
    return this.#marks.get(id) ?? [];
  }

  /** The id has a verdict: its row stays. */
  drop(id: string): void {
    if (this.#marks.size > 0) this.#marks.delete(id);
  }

  add(id: string, marks: readonly string[]): void {
    this.#marks.set(id, marks);
    const oldest = this.#marks.keys().next();
    if (this.#marks.size > MAX_IDS && !oldest.done) this.#marks.delete(oldest.value);
    if (!this.#running) this.#plan(0);
  }

  #plan(tries: number): void {
    this.#running = true;
    const waitMs = WAIT_MS[Math.min(tries, WAIT_MS.length - 1)];
    const timer: { unref?: () => void } | number = setTimeout(() => void this.#run(tries), waitMs);
    // A process that ends gives nothing back, and is not kept alive for it.
    if (typeof timer === "object") timer.unref?.();
  }

  async #run(tries: number): Promise<void> {
    // One that is being recorded again is resolved by its marks: removed under its hands, it would be first twice.
    const given = [...this.#marks].filter(([id]) => !this.#isUnderWay(id)).slice(0, IDS_PER_STATEMENT);
    let failed = false;
    try {
      if (given.length > 0) await this.#remove(given);
    } catch (error) {
      failed = true;
      notify(this.#parts.observer, storeFailed("dedup.give_back", storeError(error, this.#parts.cure)));
    }
    if (this.#marks.size === 0) this.#running = false;
    else this.#plan(failed || given.length === 0 ? tries + 1 : 0);
  }

  async #remove(given: readonly (readonly [string, readonly string[]])[]): Promise<void> {
    const marked = given.flatMap(([id, marks]) => marks.map((mark): MarkedId => ({ id, mark })));
    const { pool, table, scope } = this.#parts;
    await removeMarked(pool, marked, { table, scope, acquireMs: ACQUIRE_MS });
    for (const [id, marks] of given) if (this.#marks.get(id) === marks) this.#marks.delete(id);
  }
}
