import type { StoreErrorCode } from "../../../store-errors.js";
import { isPosthornError, PosthornError } from "../../../posthorn-error.js";

/** The server's five-character code, of the error or of what caused it: ORMs wrap the driver's errors. */
export function sqlState(error: unknown): string | undefined {
  for (let each = error, depth = 0; depth < 5 && typeof each === "object" && each !== null; depth++) {
    const { code, severity, cause } = each as { code?: unknown; severity?: unknown; cause?: unknown };
    // `severity` tells the server's codes from Node's: EPIPE has five letters too.
    if (typeof severity === "string" && typeof code === "string" && code.length === 5) return code;
    each = cause;
  }
  return undefined;
}

/**
 * True when the server did not answer: what was sent may have been done or not. Errors without a code come from
 * the driver or the socket; class 08 and 57P0x from a server that is closing the connection, perhaps after a commit.
 */
export function isAnswerLost(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || state.startsWith("08") || state.startsWith("57P0") || state === "40003";
}

/** Serialization failure and deadlock: the same work on a fresh transaction may succeed. */
export function isTransient(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01";
}

const MAX_TRIES = 3;

/**
 * Retries work that has changed nothing when its connection turned out to be dead: pools hand out connections that the
 * server closed while they were idle, and `postgres` fails the next query on a connection for the end of the last one.
 */
export async function againWhenLost<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (isPosthornError(error) || !isAnswerLost(error) || tries === MAX_TRIES) throw error;
    }
  }
}

const MISSING = new Set(["42P01", "42703", "3F000"]);

/** True when a table, a column or the schema is not there. */
export function isMissing(error: unknown): boolean {
  return MISSING.has(sqlState(error) ?? "");
}

/** What a failed statement of ours means to the host. `cure` says how the missing tables are made. */
export function storeError(error: unknown, cure: string): PosthornError {
  if (isPosthornError(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  const state = sqlState(error);
  if (isMissing(error)) return coded("store_not_migrated", `Postgres says: ${message}. ${cure}`, error);
  if (isAnswerLost(error))
    return coded("store_unavailable", `Postgres could not be reached: ${message}.`, error);
  return coded(
    "store_unavailable",
    `Postgres refused a statement of Posthorn with ${state}: ${message}.`,
    error,
  );
}

function coded(code: StoreErrorCode, message: string, cause: unknown): PosthornError {
  return new PosthornError(code, message, { cause, detail: { sqlState: sqlState(cause) } });
}

/** No connection was free in time; nothing was sent. */
export function saturated(acquireMs: number): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_unavailable",
    `No connection was free within ${acquireMs} ms. Handlers hold one each while they run: shorten them, or enlarge the pool.`,
    { detail: { saturated: true, acquireMs } },
  );
}

export function isSaturated(error: unknown): boolean {
  return isPosthornError(error) && error.detail["saturated"] === true;
}

/** A handler of the host caught the error of a statement, and went on in a transaction that was already lost. */
export function transactionAborted(cause: unknown): PosthornError<StoreErrorCode> {
  const why = cause instanceof Error ? ` (${cause.message})` : "";
  return new PosthornError(
    "store_transaction_aborted",
    `A statement of the handler failed${why}, and its error was swallowed: Postgres has rolled everything back. ` +
      "Let the error through, or run the statement in a savepoint.",
    { cause },
  );
}

/** The transaction that was in use is over. */
export function transactionFinished(): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_transaction_finished",
    "The transaction was used after it had ended, where its writes would land outside of it. " +
      "Await every statement before the handler returns, and use no transaction of an earlier call.",
  );
}
