import { systemClock } from "../../../clock.js";
import type { StoreErrorCode } from "../../../store-errors.js";
import { PosthornError } from "../../../posthorn-error.js";
import type {
  Answer,
  Pool,
  Row,
  Session,
  Statement,
  TransactionEnd,
  TransactionLimits,
  Work,
} from "./database.js";
import { MIGRATE_CURE } from "../schema/migrate.js";
import type { Tables } from "../schema/tables.js";
import { againWhenLost, isTransient, storeError } from "./failure.js";

/** What a verb works with: transactions of the store's own, and the names of its tables. */
export interface StoreDatabase {
  readonly transactions: OwnTransactions;
  readonly tables: Tables;
}

const MAX_TRIES = 5;
const RETRY_MS = 5;

// A process that is stopped in the middle of a transaction must not keep the lanes that it has locked.
const LIMITS = settings({ idle_in_transaction_session_timeout: "3000", statement_timeout: "10000" });

// Longer than any statement may take. After a failover a connection may fall silent, which TCP notices in a quarter of an
// hour: a dispatcher that waited as long would deliver nothing.
const DEADLINE_MS = 15_000;

// The plans of prepared statements are kept: a plan that was made while a table was small would scan it from end to end
// when it has grown to a million rows. With these settings every table is entered by an index, however small it is, so
// that one plan stays good. "off" is a high cost, for which Postgres would try to compile the plan: hence no jit.
export const KEPT_PLANS: Statement = {
  text: `
    select ${settings({
      enable_seqscan: "off",
      enable_hashjoin: "off",
      enable_mergejoin: "off",
      enable_bitmapscan: "off",
      jit: "off",
      plan_cache_mode: "force_generic_plan",
    })}, ${LIMITS}
    where $1::text is not null`,
  params: ["kept"],
  prepared: true,
};

const FRESH_PLANS: Statement = {
  text: `select ${LIMITS} where $1::text is not null`,
  params: ["fresh"],
  prepared: true,
};

/** Settings of one transaction, as columns of a select. */
function settings(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `set_config('${name}', '${value}', true) as ${name}`)
    .join(", ");
}

/** `kept`: prepared statements that enter tables by their indexes. `fresh`: planned for the tables as they are. */
export type Plans = "kept" | "fresh";

/** Runs transactions of the store's own: short ones, whose isolation is named and which are retried after a deadlock. */
export class OwnTransactions {
  readonly #pool: Pool<unknown>;
  readonly #acquireMs: number;
  readonly #deadlineMs: number;

  constructor(pool: Pool<unknown>, acquireMs: number, deadlineMs: number = DEADLINE_MS) {
    this.#pool = pool;
    this.#acquireMs = acquireMs;
    this.#deadlineMs = deadlineMs;
  }

  /** Runs `work` in a transaction and commits it. After a deadlock it is run again, so it must keep nothing of a try that failed. */
  run<T>(work: (session: Session) => Promise<T>, plans: Plans = "kept"): Promise<T> {
    const first = plans === "kept" ? KEPT_PLANS : FRESH_PLANS;
    return this.#repeat(() => this.#once((limits) => this.#pool.transaction(first, work, limits)));
  }

  /** The same, with a first prepared statement whose answer `work` gets: both drivers send it together with `begin`. */
  runFrom<T>(first: Statement, work: Work<unknown, T>): Promise<T> {
    return this.#repeat(() =>
      this.#once((limits) => this.#pool.transaction(first, work, { ...limits, settings: KEPT_PLANS })),
    );
  }

  /** Runs one prepared statement and commits it, without waiting for anything in between. */
  write(statement: Statement): Promise<Answer> {
    return this.#repeat(() =>
      this.#once((limits) => this.#pool.write(statement, { ...limits, settings: KEPT_PLANS })),
    );
  }

  /** Reads with one prepared statement, whose plan is kept with its connection. */
  readKept(statement: Statement): Promise<readonly Row[]> {
    return this.runFrom({ ...statement, prepared: true }, (_scope, { rows }) => Promise.resolve(rows));
  }

  /** Reads with one statement, which is planned for the tables as they are. */
  async read(statement: Statement): Promise<Answer> {
    try {
      return await againWhenLost(() => this.#pool.query(statement, this.#acquireMs));
    } catch (error) {
      throw storeError(error, MIGRATE_CURE);
    }
  }

  async #repeat<T>(once: () => Promise<TransactionEnd<T>>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const end = await once();
      if (end.kind === "committed") return end.value;
      if (end.kind === "unknown" || !isTransient(end.error) || tries === MAX_TRIES) {
        throw storeError(end.error, MIGRATE_CURE);
      }
      // A random wait, so that two transactions that met in a deadlock do not meet again.
      await systemClock.sleep(Math.random() * RETRY_MS * 2 ** tries);
    }
  }

  async #once<T>(run: (limits: TransactionLimits) => Promise<TransactionEnd<T>>): Promise<TransactionEnd<T>> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(silent(this.#deadlineMs)), this.#deadlineMs);
    const limits = { acquireMs: this.#acquireMs, signal: deadline.signal };
    try {
      // It throws only before anything has begun, so that a retry repeats nothing.
      return await againWhenLost(() => run(limits));
    } catch (error) {
      throw storeError(error, MIGRATE_CURE);
    } finally {
      clearTimeout(timer);
    }
  }
}

function silent(deadlineMs: number): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_unavailable",
    `Postgres did not answer within ${deadlineMs} ms. The connection was given up; the next one may find it well.`,
  );
}
