import { judgeMethods, refuseMethods } from "./judged-methods.js";
import type { OrmClient } from "./orm-client.js";
import { textOf } from "./orm-query.js";

/** A transaction of PGlite. */
export interface PgliteTransaction {
  query(text: string, params?: never[], options?: { rowMode?: "object" }): Promise<{ rows: unknown[] }>;
  exec(text: string): Promise<unknown>;
  readonly closed: boolean;
}

/** A PGlite database: Postgres in the host's own process. */
export interface PgliteDatabase<Tx> {
  query(text: string, params?: never[], options?: { rowMode?: "object" }): Promise<{ rows: unknown[] }>;
  exec(text: string): Promise<unknown>;
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

/**
 * PGlite as the client of `postgresStore`, for tests without a server: one connection, which transactions use one after the
 * other.
 *
 * @example
 * const client = fromPglite(new PGlite());
 * await migrate(client);
 * const store = postgresStore({ client });
 */
export function fromPglite<Tx extends PgliteTransaction>(db: PgliteDatabase<Tx>): OrmClient<Tx> {
  return {
    orm: "PGlite",
    begin: (work) =>
      db.transaction(async (tx) => {
        await tx.query("set transaction isolation level read committed");
        return work(tx);
      }),
    async run({ text, params, script }, tx) {
      const on = tx ?? db;
      if (script) return on.exec(text).then(() => []);
      return (await on.query(text, [...params] as never[], { rowMode: "object" })).rows;
    },
    isOpen: (tx) => !tx.closed && typeof tx.query === "function",
    guard(tx, judge) {
      // `listen` sends its statement by `exec`.
      judgeMethods(tx, judge, { query: textOf, exec: textOf, sql: textOfTemplate });
      return { tx, release: refuseMethods(tx, judge, ["rollback"]) };
    },
  };
}

/** What PGlite's own `raw`, `identifier` and `sql` make, for templates. */
interface Nested {
  readonly str?: unknown;
  readonly strings?: readonly string[];
  readonly values?: readonly unknown[];
}

/** The text of a template as it will be sent, with the text of the parts that are no parameters. */
function textOfTemplate(strings: unknown, ...values: unknown[]): string {
  const between = (value: unknown): string => {
    const { str, strings: inner, values: given = [] } = Object(value) as Nested;
    if (typeof str === "string") return str;
    return inner === undefined ? " $1 " : textOfTemplate(inner, ...given);
  };
  return (strings as readonly string[])
    .map((part, n) => (n === 0 ? part : between(values[n - 1]) + part))
    .join("");
}
