import { PosthornError } from "../../../../posthorn-error.js";
import type { StoreErrorCode } from "../../../../store-errors.js";

/** A client of an ORM on which no event can be applied together with the host's writes. */
export function unsupportedOrm(orm: string, why: string, cause?: unknown): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_client_unsupported",
    `This client of ${orm} cannot be used: ${why}. An event is applied in one transaction with its handler's writes.`,
    { cause },
  );
}

const AWAITS =
  "On SQLite a transaction cannot await, and every query of this ORM is a promise: hand the better-sqlite3 handle to `sqliteStore`, and run what ";
const ON_SQLITE: Readonly<Record<string, string>> = {
  Drizzle:
    "On better-sqlite3, hand the handle to `sqliteStore`, and call `drizzle({ client: tx })` in the handler",
  Knex: `${AWAITS}\`.toSQL().toNative()\` gives on it`,
  Kysely: `${AWAITS}\`.compile()\` gives on it`,
};

/** Refuses a client of another database, and says what to do where that is SQLite. */
export function expectPostgres(orm: string, dialect: string, accepted: RegExp): void {
  if (accepted.test(dialect)) return;
  const instead = ON_SQLITE[orm];
  const why = `its dialect is ${dialect}; expected Postgres`;
  throw unsupportedOrm(orm, instead === undefined ? why : `${why}. ${instead}`);
}

const WORDS =
  /no transactions? support|transactions? (?:is|are) not (?:yet )?supported|not support(?:ed)? transactions?/i;

/** What the failure to open a transaction means, where the driver says that it has none. */
export function openFailure(orm: string, error: unknown): unknown {
  const message = error instanceof Error ? error.message : "";
  if (!WORDS.test(message)) return error;
  return unsupportedOrm(
    orm,
    `its driver has no interactive transactions ("${message}"); use one that keeps a connection`,
    error,
  );
}
