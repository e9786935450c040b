import type { StoreErrorCode } from "../../../store-errors.js";
import { PosthornError } from "../../../posthorn-error.js";
import type { ClientKind, PgClient } from "./client.js";
import type { Pool, Session } from "./database.js";
import { optionInvalid } from "./identifiers.js";
import { PgDriver, pgSession } from "./pg-driver.js";
import { PostgresDriver, postgresSession } from "./postgres-driver.js";

/** The pool behind a client; throws where a single connection was handed in. */
export function poolOf<Tx>(known: ClientKind, prepare: boolean): Pool<Tx> {
  if (known.kind === "pg_pool") return new PgDriver(known.client, prepare);
  if (known.kind === "postgres_sql") return new PostgresDriver(known.client, prepare);
  throw new PosthornError<StoreErrorCode>(
    "store_client_unsupported",
    "A single connection was handed in; expected a pool, because each event is applied in a transaction of its own: " +
      "`new Pool()` of `pg`, or the `sql` of `postgres`.",
  );
}

/** One connection that the host holds; throws where a pool was handed in. */
export function sessionOf(known: ClientKind, prepare: boolean): Session {
  switch (known.kind) {
    case "pg_client":
      return pgSession(known.client, prepare);
    case "postgres_transaction":
    case "postgres_reserved":
      return postgresSession(known.client, prepare);
    case "pg_pool":
    case "postgres_sql":
      throw new PosthornError<StoreErrorCode>(
        "store_transaction_required",
        "A pool was handed in, which has a transaction for each statement; expected a transaction: " +
          "a client of `pg` after `begin`, or what `sql.begin` of `postgres` hands to its callback.",
      );
  }
}

/**
 * True when the connection is inside of a transaction block; only in a statement without parameters. Alone, such a
 * statement begins its transaction itself, at the same instant; with parameters, it is parsed an instant before.
 */
export const IN_TRANSACTION = "now() <> statement_timestamp()";

/** A client of `pg` that is no pool's, as a pool of one. */
export async function singleConnection(client: PgClient): Promise<Pool<unknown>> {
  const { rows } = await pgSession(client, false).query({ text: `select (${IN_TRANSACTION})::text` });
  // Our commit would be the host's.
  if (rows[0]?.[0] === "true") throw optionInvalid("The client is inside of a transaction; commit it first.");
  const connection = new Proxy(client, {
    get: (target, name) => {
      if (name === "release") return () => undefined;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return new PgDriver(
    {
      connect: (callback: (error: undefined, client: unknown) => void) => callback(undefined, connection),
      totalCount: 1,
      idleCount: 1,
    } as never,
    false,
  );
}
