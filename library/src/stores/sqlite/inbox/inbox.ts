import { reach } from "#faults";
import { systemClock } from "../../../clock.js";
import type { Clock } from "../../../clock.js";
import type { StoreErrorCode } from "../../../store-errors.js";
import type {
  Acceptance,
  AcceptLimits,
  Arrival,
  InboxKey,
  InboxRow,
  InboxStore,
  KnownEvent,
  PurgeLimits,
  PurgeReport,
  RefusedBecause,
} from "../../../inbox/inbox-store.js";
import type { StoreCapabilities } from "../../../store-capabilities.js";
import { notify } from "../../../observer.js";
import type { Observer } from "../../../observer.js";
import { isPosthornError, PosthornError } from "../../../posthorn-error.js";
import { accept } from "./accept.js";
import type { Work } from "./accept.js";
import type { SqliteDatabase } from "../client/client.js";
import { connectionOf } from "../client/connection.js";
import type { Connection } from "../client/connection.js";
import { lostPromises } from "../client/durability.js";
import type { Durability, Settings } from "../client/durability.js";
import { storeError } from "../client/failure.js";
import { findKnown, findRow, noteFailure, noteRefusal, noteTouch } from "./records.js";
import { checkDurability, checkWaitMs, DEFAULT_WAIT_MS, LOCK_WAIT_MS } from "../client/options.js";
import { isAnyPassed, purgeInBatches, removePassed } from "./purge.js";
import { Touches } from "../../../inbox/touches.js";
import { alarmingWalBytes } from "../client/wal-size.js";

/** What an inbox in SQLite is made of. */
export interface SqliteStoreOptions<Db extends SqliteDatabase> {
  /** An open handle of better-sqlite3 or node:sqlite; handlers get it as `tx`. */
  readonly db: Db;
  /** How long bookkeeping may wait for the write lock; an accept waits as long as the receiver's `acquireMs`. @default 5,000 */
  readonly waitMs?: number;
  /** @default "set" */
  readonly durability?: Durability;
  readonly clock?: Clock;
  readonly observer?: Observer;
}

const NAME = "sqliteStore";
const TOUCHES_PER_WRITE = 200;
const FLUSH_AFTER_MS = 1000;

type Parts = Required<Omit<SqliteStoreOptions<SqliteDatabase>, "db" | "durability" | "observer">> & {
  readonly observer: Observer | undefined;
  readonly settings: Settings;
};

class SqliteInbox<Db extends SqliteDatabase> implements InboxStore<Db, "synchronous"> {
  readonly transactions = "synchronous";
  readonly capabilities: StoreCapabilities;
  readonly #db: Db;
  readonly #connection: Connection;
  readonly #parts: Parts;
  readonly #touches = new Touches();
  #flushPlanned = false;

  constructor(db: Db, parts: Parts) {
    this.#db = db;
    this.#connection = connectionOf(db);
    this.#parts = parts;
    this.capabilities = Object.freeze({
      sharesHostTransaction: true,
      survivesPowerLoss: lostPromises(parts.settings).length === 0,
      multiProcess: parts.settings.file,
      clock: "process",
    });
  }

  find(key: InboxKey): Promise<KnownEvent | undefined> {
    return this.#look(() => findKnown(this.#connection.client, key));
  }

  read(key: InboxKey): Promise<InboxRow | undefined> {
    return this.#look(() => findRow(this.#connection.client, key));
  }

  accept(arrival: Arrival, work: Work<Db>, limits: AcceptLimits): Promise<Acceptance> {
    const { client, handlers: group } = this.#connection;
    const now = (): number => this.#parts.clock.now();
    return accept({ client, group, db: this.#db }, { arrival, work, now }, limits);
  }

  async fail(arrival: Arrival, error: string): Promise<void> {
    reach("fail.before_record");
    await this.#write(() => noteFailure(this.#connection.client, arrival, { error, nowMs: this.#now() }));
    reach("fail.after_record");
  }

  async refuse(arrival: Arrival, because: RefusedBecause): Promise<void> {
    reach("refuse.before_record");
    await this.#write(() => noteRefusal(this.#connection.client, arrival, { because, nowMs: this.#now() }));
    reach("refuse.after_record");
  }

  touch(arrival: Arrival): void {
    if (!this.#touches.add(arrival, this.#now())) return;
    if (this.#touches.size >= TOUCHES_PER_WRITE) void this.#flushAlone();
    else this.#planFlush();
  }

  async flush(): Promise<void> {
    while (this.#touches.size > 0) {
      const touches = this.#touches.take(TOUCHES_PER_WRITE);
      try {
        reach("touch.before_record");
        await this.#write(() => touches.forEach((touch) => noteTouch(this.#connection.client, touch)));
        reach("touch.after_record");
      } catch (error) {
        this.#touches.putBack(touches);
        throw error;
      }
    }
  }

  async purge(limits: PurgeLimits): Promise<PurgeReport> {
    const { client } = this.#connection;
    // A duplicate that is noted in memory alone has started its event's window again.
    await this.flush();
    const report = await purgeInBatches(limits, this.#parts.clock, {
      remove: (limit) => this.#write(() => removePassed(client, this.#now(), limit)),
      isMore: () => isAnyPassed(client, this.#now()),
    });
    this.#lookAtWal();
    return report;
  }

  #now(): number {
    return this.#parts.clock.now();
  }

  // A handler that looks would see its neighbours' rows before they are committed; a microtask later they are.
  async #look<T>(look: () => T): Promise<T> {
    await Promise.resolve();
    try {
      return look();
    } catch (error) {
      throw storeError(error);
    }
  }

  async #write<T>(run: () => T): Promise<T> {
    const { waitMs } = this.#parts;
    const expired = (): never => {
      throw new PosthornError<StoreErrorCode>(
        "store_unavailable",
        `Another connection held the write lock, or the host a transaction, for ${waitMs} ms. Retry.`,
      );
    };
    try {
      return await this.#connection.statements.join({ run, undoable: true, waitMs, expired });
    } catch (error) {
      throw storeError(error);
    }
  }

  #lookAtWal(): void {
    const { client } = this.#connection;
    try {
      const bytes = client.withLockWait(LOCK_WAIT_MS, () => alarmingWalBytes(client));
      if (bytes !== undefined) notify(this.#parts.observer, { kind: "wal_growing", store: NAME, bytes });
    } catch {
      // A transaction or query of the host is open on the handle; the next purge looks again.
    }
  }

  #planFlush(): void {
    if (this.#flushPlanned) return;
    this.#flushPlanned = true;
    void this.#parts.clock.sleep(FLUSH_AFTER_MS).then(() => {
      this.#flushPlanned = false;
      return this.#flushAlone();
    });
  }

  // Nobody waits for this one; what it could not write waits for the next.
  async #flushAlone(): Promise<void> {
    try {
      await this.flush();
    } catch (error) {
      const code = isPosthornError(error) ? error.code : "store_unavailable";
      const message = error instanceof Error ? error.message : String(error);
      notify(this.#parts.observer, { kind: "store_failed", operation: "flush", code, message });
    }
  }
}

/**
 * Makes an inbox in the host's own SQLite database. Call `migrate(db)` first. Handlers have the form
 * `async (event) => (tx) => { … }`: the outer part may await, the inner one writes, in one transaction with the event's row.
 *
 * @example
 * await migrate(db);
 * const receiver = createReceiver({
 *   store: sqliteStore({ db }),
 *   sources: { stripe: stripe({ secrets }) },
 *   handlers: {
 *     "invoice.paid": (event) => (tx) => {
 *       tx.prepare("update invoice set paid = 1 where id = ?").run(event.data.id);
 *     },
 *   },
 * });
 */
export function sqliteStore<Db extends SqliteDatabase>(
  options: SqliteStoreOptions<Db>,
): InboxStore<Db, "synchronous"> {
  const { db, waitMs = DEFAULT_WAIT_MS, durability = "set", clock = systemClock, observer } = options;
  checkWaitMs(NAME, waitMs);
  checkDurability(NAME, durability);
  const settings = connectionOf(db).durability.require(durability, { name: NAME, observer });
  return new SqliteInbox(db, { waitMs, clock, observer, settings });
}
