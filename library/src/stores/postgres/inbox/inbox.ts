import { reach } from "#faults";
import { systemClock } from "../../../clock.js";
import type {
  Acceptance,
  AcceptLimits,
  Arrival,
  Handled,
  InboxKey,
  InboxRow,
  InboxStore,
  KnownEvent,
  PurgeLimits,
  PurgeReport,
  RefusedBecause,
} from "../../../inbox/inbox-store.js";
import type { StoreCapabilities } from "../../../store-capabilities.js";
import type { Observer } from "../../../observer.js";
import { notify } from "../../../observer.js";
import { Acceptor } from "./accept.js";
import type { PostgresPool } from "../client/client.js";
import { clientKind } from "../client/client.js";
import type { Pool } from "../client/database.js";
import type { PostgresDurability } from "../client/durability.js";
import { DurabilityCheck } from "../client/durability.js";
import type { Place } from "./records.js";
import { isAnyPassed, recordFailure, recordRefusal, removePassed } from "./records.js";
import { readRow, tablesIn } from "./inbox-row.js";
import { Lookups } from "./find.js";
import { MIGRATE_CURE } from "../schema/migrate.js";
import { DEFAULT_SCHEMA, quotedName } from "../client/identifiers.js";
import { poolOf } from "../client/pool.js";
import { purgeInBatches } from "./purge.js";
import { againWhenLost, storeError } from "../client/failure.js";
import { Touches } from "../../../inbox/touches.js";
import { flushTouches } from "./touch.js";

export interface PostgresStoreOptions<Tx> {
  /** A Pool of `pg`, or the `sql` of `postgres`. Handlers get its transactions. */
  readonly client: PostgresPool<Tx>;
  /** Where `migrate` made the tables. @default "posthorn" */
  readonly schema?: string;
  /** False for poolers that cannot keep prepared statements. @default true */
  readonly prepare?: boolean;
  /** What is done about settings that let an acknowledged event vanish: told, or refused. @default "as_is" */
  readonly durability?: PostgresDurability;
  readonly observer?: Observer;
}

/**
 * Keeps the inbox in Postgres, in the host's own transactions.
 *
 * @example
 * await migrate(pool);
 * const store = postgresStore({ client: pool });
 */
export function postgresStore<Tx>(options: PostgresStoreOptions<Tx>): InboxStore<Tx, "asynchronous"> {
  const { client, schema = DEFAULT_SCHEMA, prepare = true, durability = "as_is", observer } = options;
  const pool = poolOf<Tx>(clientKind(client), prepare);
  const check = new DurabilityCheck(pool, durability, observer);
  return new PostgresInbox({ pool, schema: quotedName("schema", schema), check, observer });
}

interface Parts<Tx> {
  readonly pool: Pool<Tx>;
  readonly schema: string;
  readonly check: DurabilityCheck;
  readonly observer: Observer | undefined;
}

const CAPABILITIES: StoreCapabilities = Object.freeze({
  sharesHostTransaction: true,
  survivesPowerLoss: true,
  multiProcess: true,
  clock: "store",
});

// For statements that no request waits for longer than this.
const ACQUIRE_MS = 5000;
const FLUSH_MS = 1000;
const FAIL_RETRY_MS = [5, 20, 75, 150];

class PostgresInbox<Tx> implements InboxStore<Tx, "asynchronous"> {
  readonly capabilities: StoreCapabilities = CAPABILITIES;
  readonly transactions = "asynchronous";
  readonly #pool: Pool<Tx>;
  readonly #place: Place;
  readonly #observer: Observer | undefined;
  readonly #check: DurabilityCheck;
  readonly #acceptor: Acceptor<Tx>;
  readonly #lookups: Lookups;
  readonly #touches = new Touches();
  #flushPlanned = false;

  constructor({ pool, schema, check, observer }: Parts<Tx>) {
    const tables = tablesIn(schema);
    this.#pool = pool;
    this.#place = { tables, acquireMs: ACQUIRE_MS };
    this.#observer = observer;
    this.#check = check;
    this.#acceptor = new Acceptor(pool, tables.inbox);
    this.#lookups = new Lookups(pool, tables.inbox);
  }

  find(key: InboxKey): Promise<KnownEvent | undefined> {
    return this.#lookups.find(key);
  }

  async accept(
    arrival: Arrival,
    work: (tx: Tx) => Promise<Handled> | Handled,
    limits: AcceptLimits,
  ): Promise<Acceptance> {
    const durable = this.#check.before(limits.acquireMs);
    if (durable) await named(() => durable);
    return this.#acceptor.accept(arrival, work, limits);
  }

  async fail(arrival: Arrival, error: string): Promise<void> {
    reach("fail.before_record");
    await named(async () => {
      const record = (): Promise<boolean> => recordFailure(this.#pool, { arrival, error }, this.#place);
      // Another delivery has the event already, and will write what becomes of it; this one's failure is then past.
      for (let tries = 0; !(await record()) && tries < FAIL_RETRY_MS.length; tries++) {
        await systemClock.sleep(FAIL_RETRY_MS[tries] as number);
      }
    });
    reach("fail.after_record");
  }

  async refuse(arrival: Arrival, because: RefusedBecause): Promise<void> {
    reach("refuse.before_record");
    await named(() => recordRefusal(this.#pool, { arrival, because }, this.#place));
    reach("refuse.after_record");
  }

  touch(arrival: Arrival): void {
    this.#touches.add(arrival, systemClock.monotonic());
    if (this.#flushPlanned || this.#touches.size === 0) return;
    this.#flushPlanned = true;
    // Receipts that are lost with the process are no reason to keep it alive.
    const timer: { unref?: () => void } | number = setTimeout(() => this.#flushInBackground(), FLUSH_MS);
    if (typeof timer === "object") timer.unref?.();
  }

  flush(): Promise<void> {
    const { tables, acquireMs } = this.#place;
    return named(() => flushTouches(this.#touches, this.#pool, { inbox: tables.inbox, acquireMs }));
  }

  read(key: InboxKey): Promise<InboxRow | undefined> {
    const { tables, acquireMs } = this.#place;
    const session = {
      query: (statement: Parameters<Pool<Tx>["query"]>[0]) => this.#pool.query(statement, acquireMs),
    };
    return named(() => againWhenLost(() => readRow(session, key, tables.inbox)));
  }

  purge(limits: PurgeLimits): Promise<PurgeReport> {
    return named(() =>
      purgeInBatches(limits, systemClock, {
        remove: (limit) => removePassed(this.#pool, limit, this.#place),
        isMore: () => isAnyPassed(this.#pool, this.#place),
      }),
    );
  }

  #flushInBackground(): void {
    this.flush()
      .catch((error: unknown) => {
        const { code, message } = storeError(error, MIGRATE_CURE);
        notify(this.#observer, { kind: "store_failed", operation: "touch", code, message });
      })
      .finally(() => (this.#flushPlanned = false));
  }
}

/** Gives the driver's errors the names of ours. */
async function named<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storeError(error, MIGRATE_CURE);
  }
}
