import { reach } from "#faults";
import { systemClock } from "../../../clock.js";
import type { DedupVerdict } from "../../../inbox/dedup.js";
import type { StoreErrorCode } from "../../../store-errors.js";
import { PosthornError } from "../../../posthorn-error.js";
import type { Session } from "../client/database.js";
import { IN_TRANSACTION } from "../client/client.js";
import {
  isTransient,
  sqlState,
  storeError,
  transactionAborted,
  transactionFinished,
} from "../client/failure.js";
import { literal } from "../client/identifiers.js";
import { lockKey } from "./batch.js";
import { dedupBusy, randomMark } from "./coalesced.js";

export interface TransactionDedupParts {
  readonly session: Session;
  readonly table: string;
  readonly scope: string;
  readonly waitMs: number;
  readonly cure: string;
}

const TICK_MS = 2;
const RETRY_MS = [2, 5, 10, 20, 50, 100];

/** Records ids in a transaction of the host: its rollback forgets them, its commit remembers them. */
export class TransactionDedup {
  readonly #parts: TransactionDedupParts;
  // Start time of the transaction, which identifies it: a connection that was given back may be in another one by now.
  #beganAt: string | undefined;

  constructor(parts: TransactionDedupParts) {
    this.#parts = parts;
  }

  async record(id: string, ttlS: number): Promise<DedupVerdict> {
    try {
      reach("dedup.before_lock");
      await this.#lock(id);
      reach("dedup.before_record");
      const first = await this.#insert(id, ttlS);
      reach("dedup.after_record");
      return { duplicate: !first };
    } catch (error) {
      if (sqlState(error) === "25P02") throw transactionAborted(undefined);
      // As the driver threw it: the host's own loop repeats its transaction on these codes.
      if (isTransient(error)) throw error;
      throw storeError(error, this.#parts.cure);
    }
  }

  async #lock(id: string): Promise<void> {
    const { waitMs } = this.#parts;
    const endsAt = systemClock.monotonic() + waitMs;
    for (let tries = 0; !(await this.#tryLock(id)); tries++) {
      if (systemClock.monotonic() >= endsAt) throw dedupBusy(waitMs);
      await systemClock.sleep(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] as number);
    }
  }

  /** Tries the lock that every writer of the id takes first, and checks beforehand what would abort the host's transaction: a missing table. */
  async #tryLock(id: string, isAgain = false): Promise<boolean> {
    const { session, table, scope, cure } = this.#parts;
    const { rows } = await session.query({
      text: `
        select (${IN_TRANSACTION})::text as inside, now()::text as began_at, to_regclass('${table}')::text as found,
          pg_try_advisory_xact_lock(${lockKey(table, literal(scope), literal(id))})::text as got`,
    });
    const [inside, began, found, got] = rows[0] ?? [];
    const beganAt = typeof began === "string" ? began : undefined;
    if (inside !== "true") {
      if (isAgain) throw this.#beganAt === undefined ? notInTransaction() : transactionFinished();
      // By PGlite's clock, which counts milliseconds, a transaction that began in this one would be none.
      await systemClock.sleep(TICK_MS);
      return this.#tryLock(id, true);
    }
    if (this.#beganAt !== undefined && this.#beganAt !== beganAt) throw transactionFinished();
    this.#beganAt = beganAt;
    if (typeof found !== "string") {
      throw new PosthornError<StoreErrorCode>("store_not_migrated", `There is no table ${table}. ${cure}`);
    }
    return got === "true";
  }

  async #insert(id: string, ttlS: number): Promise<boolean> {
    const { session, table, scope } = this.#parts;
    const { rows } = await session.query({
      // A plain insert would abort the host's transaction with its first duplicate.
      text: `
        insert into ${table} as known (scope, id, expires_at, mark)
        values ($4::text, $1::text, clock_timestamp() + make_interval(secs => $2::text::float8), $3::text::int8)
        on conflict (scope, id) do update set expires_at = excluded.expires_at, mark = excluded.mark
          where known.expires_at <= clock_timestamp()
        returning 'first' as verdict`,
      params: [id, String(ttlS), randomMark(), scope],
      prepared: true,
    });
    return rows.length > 0;
  }
}

function notInTransaction(): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_transaction_required",
    "The client is not inside of a transaction, so that a rollback could not forget the id. " +
      "Run `begin` on it first and `commit` after the work, or hand the pool in as `client`.",
  );
}
