import type { StoreErrorCode } from "../../../store-errors.js";
import { PosthornError } from "../../../posthorn-error.js";
import type { Pool, Session } from "./database.js";
import type {
  PgClient,
  PgPool,
  PgPoolClient,
  PostgresReserved,
  PostgresSql,
  PostgresTransaction,
} from "./drivers.js";
import { transactionAborted } from "./failure.js";
import { optionInvalid } from "./identifiers.js";
import type { OrmClient } from "./orms/orm-client.js";
import { OrmDriver, ormHostSession } from "./orms/orm-driver.js";
import { PgDriver, pgSession } from "./pg-driver.js";
import { PostgresDriver, postgresSession } from "./postgres-driver.js";

export type ClientKind =
  | { readonly kind: "pg_pool"; readonly client: PgPool<PgPoolClient> }
  | { readonly kind: "pg_client"; readonly client: PgClient }
  | { readonly kind: "postgres_sql"; readonly client: PostgresSql<PostgresTransaction> }
  | { readonly kind: "postgres_transaction"; readonly client: PostgresTransaction }
  | { readonly kind: "postgres_reserved"; readonly client: PostgresReserved }
  | { readonly kind: "orm"; readonly client: OrmClient<unknown> };

/** Tells the clients apart by what they can do; another database's client has other verbs, and is refused here. */
export function clientKind(client: unknown): ClientKind {
  const can = (...verbs: string[]): boolean =>
    verbs.every(
      (verb) => typeof (client as Record<string, unknown> | null | undefined)?.[verb] === "function",
    );
  if (typeof client === "function" && can("unsafe")) {
    if (can("savepoint")) return { kind: "postgres_transaction", client: client as never };
    if (can("begin", "reserve")) return { kind: "postgres_sql", client: client as never };
    if (can("release")) return { kind: "postgres_reserved", client: client as never };
  }
  if (typeof client === "object" && client !== null) {
    if (can("connect", "query") && "totalCount" in client && "idleCount" in client) {
      return { kind: "pg_pool", client: client as never };
    }
    if (can("begin", "run", "isOpen") && "orm" in client) return { kind: "orm", client: client as never };
    if (can("query", "escapeIdentifier", "on")) return { kind: "pg_client", client: client as never };
  }
  throw new PosthornError<StoreErrorCode>(
    "store_client_unsupported",
    `The client is ${describe(client)}; expected a Pool or a client of \`pg\`, or the \`sql\` of \`postgres\`. ` +
      "Of an ORM, what `fromDrizzle` and the others of `posthorn/orm` make.",
  );
}

/** For messages: what was handed in, never its content. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  const name = (value as { constructor?: { name?: string } }).constructor?.name;
  return name === undefined || name === "" ? `of type ${typeof value}` : `of class ${name}`;
}

/** The pool behind a client; throws where a single connection was handed in. */
export function poolOf<Tx>(known: ClientKind, prepare: boolean): Pool<Tx> {
  if (known.kind === "pg_pool") return new PgDriver(known.client, prepare);
  if (known.kind === "postgres_sql") return new PostgresDriver(known.client, prepare);
  if (known.kind === "orm") return new OrmDriver(known.client as OrmClient<Tx>);
  throw new PosthornError<StoreErrorCode>(
    "store_client_unsupported",
    "A single connection was handed in; expected a pool, because each event is applied in a transaction of its own: " +
      "`new Pool()` of `pg`, or the `sql` of `postgres`.",
  );
}

/** How many connections a pool has at most, where it says so; both drivers have 10 unless they are told otherwise. */
export function poolSize({ client }: ClientKind): number {
  const { options } = client as { readonly options?: { readonly max?: unknown } };
  return typeof options?.max === "number" ? options.max : 10;
}

/** One connection that the host holds; throws where a pool was handed in. */
export function sessionOf(known: ClientKind, prepare: boolean): Session {
  switch (known.kind) {
    case "pg_client":
      return pgSession(known.client, prepare);
    case "postgres_transaction":
    case "postgres_reserved":
      return postgresSession(known.client, prepare);
    case "orm":
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

/** A client of `pg` that belongs to no pool, as a pool of one. */
export async function singleConnection(client: PgClient): Promise<Pool<unknown>> {
  const { rows } = await pgSession(client, false).query({
    text: `select (${IN_TRANSACTION})::text as inside`,
  });
  // Our commit would commit the host's transaction.
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

/**
 * The connection of the host's transaction; throws unless there is one. Without this check, an event would be
 * committed at once, and stay when the host rolls back. `of` is the store's own client: an ORM's transaction is known by it.
 */
export async function hostSession(tx: unknown, prepare: boolean, of?: ClientKind): Promise<Session> {
  if (of?.kind === "orm") return ormHostSession(of.client, tx);
  const known = clientKind(tx);
  const session = sessionOf(known, prepare);
  const status = known.kind === "pg_client" ? statusOf(known.client) : undefined;
  if (status === "T") return session;
  if (status === "E") throw transactionAborted(undefined);
  // The driver does not know, or a `begin` was sent and not answered yet: the server answers after everything sent before.
  const { rows } = await session.query({ text: `select (${IN_TRANSACTION})::text as inside` });
  if (rows[0]?.[0] !== "true") throw notInTransaction();
  return session;
}

/** Older versions of pg do not have it. */
function statusOf(client: object): unknown {
  return (client as { getTransactionStatus?: () => unknown }).getTransactionStatus?.();
}

function notInTransaction(): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_transaction_required",
    "The client is not inside of a transaction, so that a rollback could not take the event back. " +
      "Run `begin` on it first and `commit` after the work, or publish without a transaction.",
  );
}
