import type { StoreErrorCode } from "../../../store-errors.js";
import { isPosthornError, PosthornError } from "../../../posthorn-error.js";
import type { Backend, Statement } from "./database.js";

/** The server's five-character code, of the error or of what caused it: ORMs wrap the driver's errors. */
export function sqlState(error: unknown): string | undefined {
  for (let each = error, depth = 0; depth < 5 && typeof each === "object" && each !== null; depth++) {
    const { code, severity, cause, ...wraps } = each as WrappedError;
    // `severity` tells the server's codes from Node's: EPIPE has five letters too.
    if (typeof severity === "string" && typeof code === "string" && code.length === 5) return code;
    each = cause ?? wraps.original ?? wraps.driverError ?? wraps.meta?.driverAdapterError;
    const { originalCode } = (each ?? {}) as WrappedError;
    if (typeof originalCode === "string" && originalCode.length === 5) return originalCode;
  }
  return undefined;
}

/** Where an error keeps the one that it was made of. */
interface WrappedError {
  readonly code?: unknown;
  readonly severity?: unknown;
  readonly cause?: unknown;
  /** Sequelize's. */
  readonly original?: unknown;
  /** TypeORM's. */
  readonly driverError?: unknown;
  /** Prisma's, whose adapters keep the server's code alone. */
  readonly meta?: { readonly driverAdapterError?: unknown } | undefined;
  readonly originalCode?: unknown;
}

/**
 * True when the server did not answer: what was sent may have been done or not. Errors without a code come from
 * the driver or the socket; class 08 and 57P0x from a server that is closing the connection, perhaps after a commit.
 */
export function isAnswerLost(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || state.startsWith("08") || state.startsWith("57P0") || state === "40003";
}

/** True when the connection is gone, or about to go: the socket failed, or the server ended the session. */
export function isConnectionLost(error: unknown): boolean {
  for (let each = error, depth = 0; depth < 5 && typeof each === "object" && each !== null; depth++) {
    const { code, severity, cause, original, driverError } = each as WrappedError;
    if (severity === "FATAL" || LOST.has(String(code))) return true;
    each = cause ?? original ?? driverError;
  }
  return false;
}

const LOST = new Set([
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ERR_STREAM_DESTROYED",
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
]);

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

const OWNED_CURE =
  "Use it as it is, and `savepoint`, `rollback to` and `release` to undo a part of it. An ORM's `transaction()` sends `begin`: " +
  "make its queries without one.";

/** A handler wants to begin or end a transaction on the connection; nothing was sent. */
export function transactionOwned(found: string): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_transaction_owned",
    `The handler ran \`${found}\` on its transaction, which Posthorn begins and ends together with the event's row. ${OWNED_CURE}`,
  );
}

/** A handler has ended its transaction in a way that nothing refused: what it wrote is gone, or committed apart from its event. */
export function transactionLeft(): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_transaction_owned",
    "The handler ended the transaction that it was given, which Posthorn begins and ends together with the event's row: what it wrote " +
      `may be lost, or stay though its event failed. ${OWNED_CURE}`,
  );
}

/** What a handler comes to that was refused something of its transaction, even if it went on or threw something else. */
export function refusedHandler(
  refusal: PosthornError | undefined,
  thrown?: { readonly error: unknown },
): unknown {
  if (refusal === undefined || thrown === undefined || thrown.error === refusal)
    return refusal ?? thrown?.error;
  const { code, message } = refusal;
  return new PosthornError(code as StoreErrorCode, message, { cause: thrown.error });
}

// Becomes part of an error's message, in whatever language the server writes the rest.
const LEFT = "posthorn: not the transaction that was entered: ";

/**
 * Raises unless the session is still in the transaction that it entered. Without this, a handler that got past every
 * refusal with `rollback` and `begin` would have an empty transaction committed, and be called applied. The cast to a
 * number is how plain SQL raises an error: a function would have to be created, and granted to the host's roles, first.
 */
export function proofOf({ xid }: Backend): Statement {
  return {
    text: `
      select case when pg_current_xact_id_if_assigned() = $1::text::xid8 then 0
        else ('${LEFT}' || coalesce(pg_current_xact_id_if_assigned()::text, 'none'))::int4 end as proved`,
    params: [xid],
    prepared: true,
  };
}

/** What the failure of a last statement before the commit, or of the commit, says about the handler. */
export function closingFailure(error: unknown, swallowed: unknown): unknown {
  if (sqlState(error) === "25P02") return transactionAborted(swallowed);
  return error instanceof Error && error.message.includes(LEFT) ? transactionLeft() : error;
}
