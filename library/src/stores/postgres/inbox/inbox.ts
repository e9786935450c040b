import { reach } from "#faults";
import { systemClock } from "../../../clock.js";
import type { Arrival, InboxStore } from "../../../inbox/inbox-store.js";
import { Touches } from "../../../inbox/touches.js";
import type { Observer } from "../../../observer.js";
import { notify } from "../../../observer.js";
import { storeFailed } from "../../../store-failed.js";
import type { Pool, Session } from "../client/database.js";
import type { DurabilityCheck } from "../client/durability.js";
import { againWhenLost, storeError } from "../client/failure.js";
import { MIGRATE_CURE } from "../schema/migrate.js";
import type { Tables } from "../schema/tables.js";
import { Acceptor } from "./accept.js";
import { Lookups } from "./find.js";
import { readRow } from "./inbox-row.js";
import { purgeInBatches } from "./purge.js";
import { isAnyPassed, recordFailure, recordRefusal, removePassed } from "./records.js";
import { flushTouches } from "./touch.js";

export interface InboxParts<Tx> {
  readonly pool: Pool<Tx>;
  readonly tables: Tables;
  readonly check: DurabilityCheck;
  readonly acquireMs: number;
  readonly observer: Observer | undefined;
}

const FAIL_RETRY_MS = [5, 20, 75, 150];

/** Accepts events, each once. */
export function createInbox<Tx>(
  parts: InboxParts<Tx>,
): Omit<InboxStore<Tx, "asynchronous">, "capabilities" | "transactions"> {
  const { pool, tables, check, acquireMs } = parts;
  const acceptor = new Acceptor(pool, tables);
  const lookups = new Lookups(pool, tables);
  const receipts = new Receipts(parts);
  const session: Session = { query: (statement) => pool.query(statement, acquireMs) };
  return {
    find: (key) => lookups.find(key),
    async accept(arrival, work, limits) {
      const durable = check.before(limits.acquireMs);
      if (durable) await named(() => durable);
      return acceptor.accept(arrival, work, limits);
    },
    fail: (arrival, error) => fail(parts, arrival, error),
    async refuse(arrival, because) {
      reach("refuse.before_record");
      await named(() => recordRefusal(pool, { arrival, because }, parts));
      reach("refuse.after_record");
    },
    touch: (arrival) => receipts.touch(arrival),
    flush: () => receipts.flush(),
    read: (key) => named(() => againWhenLost(() => readRow(session, key, tables))),
    purge: (limits) =>
      named(() =>
        purgeInBatches(limits, systemClock, {
          remove: (limit) => removePassed(pool, limit, parts),
          isMore: () => isAnyPassed(pool, parts),
        }),
      ),
  };
}

async function fail<Tx>(parts: InboxParts<Tx>, arrival: Arrival, error: string): Promise<void> {
  reach("fail.before_record");
  await named(async () => {
    // While another delivery holds the event, its own outcome will be written; past the last wait this failure is dropped.
    for (const waitMs of [...FAIL_RETRY_MS, undefined]) {
      const recorded = await recordFailure(parts.pool, { arrival, error }, parts);
      if (recorded || waitMs === undefined) return;
      await systemClock.sleep(waitMs);
    }
  });
  reach("fail.after_record");
}

const FLUSH_MS = 1000;

interface ReceiptParts extends Omit<InboxParts<unknown>, "pool"> {
  readonly pool: Pick<Pool<unknown>, "query">;
}

/** Receipts of duplicates, written in batches. */
class Receipts {
  readonly #parts: ReceiptParts;
  readonly #touches = new Touches();
  #planned = false;

  constructor(parts: ReceiptParts) {
    this.#parts = parts;
  }

  touch(arrival: Arrival): void {
    this.#touches.add(arrival, systemClock.monotonic());
    if (this.#planned || this.#touches.size === 0) return;
    this.#planned = true;
    // Receipts that are lost with the process are no reason to keep it alive.
    const timer: { unref?: () => void } | number = setTimeout(() => this.#flushInBackground(), FLUSH_MS);
    if (typeof timer === "object") timer.unref?.();
  }

  flush(): Promise<void> {
    const { pool, tables, acquireMs } = this.#parts;
    return named(() => flushTouches(this.#touches, pool, { inbox: tables.inbox, acquireMs }));
  }

  #flushInBackground(): void {
    this.flush()
      .catch((error: unknown) => {
        notify(this.#parts.observer, storeFailed("touch", storeError(error, MIGRATE_CURE)));
      })
      .finally(() => (this.#planned = false));
  }
}

/** Turns the driver's errors into ours. */
async function named<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storeError(error, MIGRATE_CURE);
  }
}
