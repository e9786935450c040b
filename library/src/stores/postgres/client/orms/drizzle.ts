import { judgedCopy } from "./judged-methods.js";
import type { OrmClient } from "./orm-client.js";
import { rowsOf, splitQuery, textOf } from "./orm-query.js";
import { expectPostgres, unsupportedOrm } from "./unsupported.js";

/** A Drizzle database on Postgres, as `drizzle()` makes it. */
export interface DrizzleDatabase<Tx> {
  transaction<T>(work: (tx: Tx) => Promise<T>, config?: { isolationLevel?: "read committed" }): Promise<T>;
  execute(query: never): PromiseLike<unknown>;
}

/** Drizzle's `sql`. */
export interface DrizzleSql {
  (strings: TemplateStringsArray, ...values: unknown[]): unknown;
  param(value: unknown): unknown;
}

/** What Drizzle has at run time and shows to nobody. */
interface Inside {
  readonly session?: { client?: object; readonly constructor: object };
  readonly dialect?: { readonly constructor: object };
  rollback?: unknown;
}

/**
 * A Drizzle database as the client of `postgresStore`: handlers get Drizzle's `tx`.
 *
 * @example
 * import { sql } from "drizzle-orm";
 * const store = postgresStore({ client: fromDrizzle(db, sql) });
 */
export function fromDrizzle<Tx>(db: DrizzleDatabase<Tx>, sql: DrizzleSql): OrmClient<Tx> {
  refuse(db);
  return {
    orm: "Drizzle",
    begin: (work) =>
      db.transaction(
        (tx) => {
          refuseShared(db as Inside, tx as Inside);
          return work(tx);
        },
        { isolationLevel: "read committed" },
      ),
    async run(query, tx) {
      const { strings, values } = splitQuery(query);
      // As parameters by name: a bare array would become a list of many.
      const built = sql(strings as never, ...values.map((value) => sql.param(value)));
      return rowsOf(await ((tx ?? db) as DrizzleDatabase<Tx>).execute(built as never));
    },
    isOpen: (tx) => typeof (tx as Inside).rollback === "function",
    guard(tx, judge) {
      const { session } = tx as Inside;
      if (session?.client) session.client = judgedCopy(session.client, judge, JUDGED);
      return { tx };
    },
  };
}

// The connection of one transaction: every statement of Drizzle's goes through one of the two methods. `postgres` has another
// one for a savepoint.
const JUDGED = { senders: { query: textOf, unsafe: textOf }, lender: "savepoint" };

const WITHOUT_TRANSACTIONS: Readonly<Record<string, string>> = {
  NeonHttpSession:
    "neon-http sends each statement by itself; use drizzle-orm/neon-serverless, which has a connection",
  PgRemoteSession: "pg-proxy sends each statement by itself; use a driver that has a connection",
  SQLiteD1Session: "D1 has no interactive transactions, only batches; there is no inbox on D1",
};

function refuse(db: object): void {
  const { session, dialect } = db as Inside;
  const why = WITHOUT_TRANSACTIONS[kindOf(session)];
  if (why !== undefined) throw unsupportedOrm("Drizzle", why);
  expectPostgres("Drizzle", kindOf(dialect), /^(?:PgDialect)?$/);
}

/**
 * On a single connection, Drizzle's transactions run in the session of the whole database: two at once would be one on the
 * server, and what is judged in the one would be judged in whatever else the host sends.
 */
function refuseShared(db: Inside, tx: Inside): void {
  if (tx.session === undefined || tx.session !== db.session) return;
  throw unsupportedOrm(
    "Drizzle",
    "it has one connection, a Client, on which transactions that are open at the same time would run into each other; make it " +
      "of a pool, as drizzle({ client: new Pool() })",
  );
}

function kindOf(entity: { readonly constructor: object } | undefined): string {
  const kind: unknown = entity && Reflect.get(entity.constructor, Symbol.for("drizzle:entityKind"));
  return typeof kind === "string" ? kind : "";
}
