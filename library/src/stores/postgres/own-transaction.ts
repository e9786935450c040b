import { systemClock } from "../../clock.js";
import type { Pool, Session, Statement, TransactionEnd } from "./database.js";
import { MIGRATE_CURE } from "./migrate.js";
import { againWhenLost, isTransient, storeError } from "./sqlstate.js";

const MAX_RUNS = 5;
const RERUN_MS = 5;

// The plans of prepared statements are kept: one that was made while a table was small would scan it from end to end
// when it has grown to a million rows. With these settings every table is entered by an index, however small it is.
// Compiling would be tried for the cost that "off" stands for. And a process that is stopped in the middle must not
// keep the lanes that it has locked.
const PLAIN_PLANS: Statement = {
  text: `
    select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
      set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true),
      set_config('idle_in_transaction_session_timeout', '3000', true), set_config('statement_timeout', '10000', true)
    where $1::text is not null`,
  params: ["plans"],
  prepared: true,
};

/** Runs transactions of the store's own: short ones, whose isolation is named and whose deadlocks are tried again. */
export class OwnTransactions {
  readonly #pool: Pool<unknown>;
  readonly #acquireMs: number;
  readonly #never = new AbortController().signal;

  constructor(pool: Pool<unknown>, acquireMs: number) {
    this.#pool = pool;
    this.#acquireMs = acquireMs;
  }

  /** Runs `work` in a transaction and commits it. `work` is run again after a deadlock, so it must keep nothing of a run that failed. */
  async run<T>(work: (session: Session) => Promise<T>): Promise<T> {
    for (let run = 1; ; run++) {
      const end = await this.#once(work);
      if (end.kind === "committed") return end.value;
      if (end.kind === "unknown" || !isTransient(end.error) || run === MAX_RUNS) {
        throw storeError(end.error, MIGRATE_CURE);
      }
      // Apart from one another, so that those who met in a deadlock do not meet again.
      await systemClock.sleep(Math.random() * RERUN_MS * 2 ** run);
    }
  }

  /** Reads with one statement. */
  async read(statement: Statement): Promise<Awaited<ReturnType<Session["query"]>>> {
    try {
      return await againWhenLost(() => this.#pool.query(statement, this.#acquireMs));
    } catch (error) {
      throw storeError(error, MIGRATE_CURE);
    }
  }

  async #once<T>(work: (session: Session) => Promise<T>): Promise<TransactionEnd<T>> {
    const limits = { acquireMs: this.#acquireMs, signal: this.#never };
    try {
      // It throws only while nothing has begun.
      return await againWhenLost(() => this.#pool.transaction(PLAIN_PLANS, work, limits));
    } catch (error) {
      throw storeError(error, MIGRATE_CURE);
    }
  }
}
