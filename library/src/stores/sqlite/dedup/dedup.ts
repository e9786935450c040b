import { reach } from "#faults";
import { systemClock } from "../../../clock.js";
import type { Clock } from "../../../clock.js";
import { checkDedup, checkedScope } from "../../../inbox/dedup.js";
import type { DedupAdapter, DedupVerdict } from "../../../inbox/dedup.js";
import type { InboxErrorCode } from "../../../inbox/inbox-errors.js";
import type { StoreErrorCode } from "../../../store-errors.js";
import { storedIdSync } from "../../../inbox/arrival/stored-id.js";
import type { OptionNames } from "../../../known-options.js";
import type { Observer } from "../../../observer.js";
import { PosthornError } from "../../../posthorn-error.js";
import { checkStoreOptions } from "../../../store-options.js";
import type { SqliteDatabase } from "../client/client.js";
import { connectionOf } from "../client/connection.js";
import type { Connection } from "../client/connection.js";
import type { Durability } from "../client/durability.js";
import { refusalOf, storeError } from "../client/failure.js";
import { MIGRATIONS } from "../schema/migrations.js";
import { checkDurability, checkWaitMs, DEFAULT_WAIT_MS } from "../client/options.js";

/** What a dedup in SQLite is made of. */
export interface SqliteDedupOptions {
  /** An open handle of better-sqlite3 or node:sqlite. */
  readonly db: SqliteDatabase;
  /** Ids of one scope say nothing of those of another: give each source its own. @default one scope for all */
  readonly scope?: string;
  /** Creates its table when it is missing, outside a transaction. @default true */
  readonly autoMigrate?: boolean;
  /** How long a call may wait for the write lock before it throws `dedup_busy`. @default 5,000 */
  readonly waitMs?: number;
  /** @default "set" */
  readonly durability?: Durability;
  readonly clock?: Clock;
  readonly observer?: Observer;
}

/** A dedup in the host's own SQLite database. */
export interface SqliteDedup extends DedupAdapter {
  readonly sharesHostTransaction: true;
  /** Inside an open transaction of the handle, `recordInTransaction`; outside, in a transaction shared with the calls of the same moment. */
  record(id: string, ttlSeconds: number): Promise<DedupVerdict> | DedupVerdict;
  /** Records in the transaction that is open on the handle, without awaiting: its rollback forgets the id. Throws where none is open. */
  recordInTransaction(id: string, ttlSeconds: number): DedupVerdict;
}

const NAME = "sqliteDedup";
const OPTIONS: OptionNames<SqliteDedupOptions> = {
  db: true,
  scope: true,
  autoMigrate: true,
  waitMs: true,
  durability: true,
  clock: true,
  observer: true,
};
// Expired rows must go faster than new ones come, in steps too small to be felt.
const RECORDS_PER_SWEEP = 16;
const ROWS_PER_SWEEP = 64;

class SqliteIds implements SqliteDedup {
  readonly sharesHostTransaction = true;
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #scope: string;
  readonly #waitMs: number;
  readonly #autoMigrate: boolean;
  #untilSweep = 0;

  constructor({
    db,
    scope,
    clock,
    waitMs,
    autoMigrate,
  }: Required<Omit<SqliteDedupOptions, "durability" | "observer">>) {
    this.#connection = connectionOf(db);
    this.#scope = scope;
    this.#clock = clock;
    this.#waitMs = waitMs;
    this.#autoMigrate = autoMigrate;
  }

  record(id: string, ttlSeconds: number): Promise<DedupVerdict> | DedupVerdict {
    checkDedup(id, ttlSeconds);
    const key = storedIdSync(id).id;
    const { inTransaction, unended } = this.#connection.client;
    return inTransaction && !unended ? this.#join(key, ttlSeconds) : this.#alone(key, ttlSeconds);
  }

  recordInTransaction(id: string, ttlSeconds: number): DedupVerdict {
    checkDedup(id, ttlSeconds);
    this.#connection.client.checkEnded();
    if (this.#connection.client.inTransaction) return this.#join(storedIdSync(id).id, ttlSeconds);
    throw new PosthornError<StoreErrorCode>(
      "store_transaction_required",
      "recordInTransaction was called while no transaction is open on the handle; call it between begin and commit, without an await before it.",
    );
  }

  #join(key: string, ttlSeconds: number): DedupVerdict {
    try {
      return this.#write(key, ttlSeconds);
    } catch (error) {
      if (refusalOf(error) !== "locked") throw storeError(error);
      throw busy(
        "Another connection holds the write lock. Roll back and retry; `begin immediate` takes the lock at the beginning.",
        error,
      );
    }
  }

  async #alone(key: string, ttlSeconds: number): Promise<DedupVerdict> {
    const write = (): DedupVerdict => this.#write(key, ttlSeconds);
    try {
      return await this.#enqueue(write);
    } catch (error) {
      if (refusalOf(error) !== "missing" || !this.#autoMigrate) throw storeError(error);
    }
    try {
      await this.#createTable();
      return await this.#enqueue(write);
    } catch (error) {
      throw storeError(error);
    }
  }

  #enqueue<T>(run: () => T): Promise<T> {
    const expired = (): never => {
      throw busy(
        `Another connection held the write lock, or the host a transaction, for ${this.#waitMs} ms. Retry.`,
      );
    };
    // One statement is atomic by itself; a savepoint for each would cost a third of the throughput.
    return this.#connection.statements.join({ run, undoable: false, waitMs: this.#waitMs, expired });
  }

  async #createTable(): Promise<void> {
    const { client } = this.#connection;
    const creation = MIGRATIONS.find(({ name }) => name.endsWith("create_dedup"));
    await this.#enqueue(() => client.exec(creation?.sql ?? ""));
  }

  #write(key: string, ttlSeconds: number): DedupVerdict {
    const now = this.#clock.now();
    reach("dedup.before_record");
    const changed = this.#connection.client.run(
      // One statement looks and writes: between a select and an insert, another process could say "first" too.
      `insert into posthorn_dedup (scope, id, expires_at) values (?, ?, ?)
       on conflict (scope, id) do update set expires_at = excluded.expires_at where posthorn_dedup.expires_at <= ?`,
      this.#scope,
      key,
      now + Math.ceil(ttlSeconds * 1000),
      now,
    );
    reach("dedup.after_record");
    if (this.#untilSweep-- <= 0) this.#sweep(now);
    return { duplicate: changed === 0 };
  }

  #sweep(now: number): void {
    const { client } = this.#connection;
    this.#untilSweep = RECORDS_PER_SWEEP;
    try {
      client.run(
        // With a limit, so that a million ids that expire together do not stop the process.
        `delete from posthorn_dedup where (scope, id) in
           (select scope, id from posthorn_dedup where expires_at <= ? order by expires_at limit ?)`,
        now,
        ROWS_PER_SWEEP,
      );
    } catch (error) {
      // The id is written: a throw here would take back the verdict but not the row, and the next call would
      // be told "duplicate". Only where SQLite has rolled everything back is the row gone too.
      if (!client.inTransaction) throw error;
    }
  }
}

/**
 * Remembers ids in the host's SQLite database. Called while a transaction is open on the handle, it belongs to
 * that transaction: rollback forgets, commit remembers.
 *
 * @example
 * const adapter = sqliteDedup({ db });
 * const { duplicate } = await dedup("invoice.paid", "evt_1", { ttl: 14 * 24 * 3600, adapter });
 *
 * db.transaction(() => {
 *   if (adapter.recordInTransaction("evt_2", 14 * 24 * 3600).duplicate) return;
 *   db.prepare("update invoice set paid = 1 where id = ?").run(7);
 * })();
 */
export function sqliteDedup(options: SqliteDedupOptions): SqliteDedup {
  checkStoreOptions(NAME, options, OPTIONS);
  const {
    db,
    autoMigrate = true,
    waitMs = DEFAULT_WAIT_MS,
    durability = "set",
    clock = systemClock,
    observer,
  } = options;
  checkWaitMs(NAME, waitMs);
  checkDurability(NAME, durability);
  const ids = new SqliteIds({ db, scope: checkedScope(options.scope), autoMigrate, waitMs, clock });
  connectionOf(db).durability.require(durability, { name: NAME, observer });
  return ids;
}

function busy(message: string, cause?: unknown): PosthornError<InboxErrorCode> {
  return new PosthornError("dedup_busy", message, { cause });
}
