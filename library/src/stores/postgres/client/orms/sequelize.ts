import { judgedCopy, refuseMethods } from "./judged-methods.js";
import type { OrmClient } from "./orm-client.js";
import { rowsOf, textOf } from "./orm-query.js";
import { expectPostgres } from "./unsupported.js";

/** A Sequelize instance on Postgres. */
export interface SequelizeInstance<Tx> {
  getDialect(): string;
  transaction<T>(options: never, work: (tx: Tx) => PromiseLike<T>): Promise<T>;
  // These two are here because inference looks at overloads from the last one on.
  transaction<T>(work: (tx: Tx) => PromiseLike<T>): Promise<T>;
  transaction(options?: never): Promise<Tx>;
  query(text: string, options: never): Promise<unknown>;
}

interface Inside {
  readonly finished?: string;
  connection?: object;
}

/**
 * A Sequelize instance as the client of `postgresStore`: handlers get the transaction `t`, for `{ transaction: t }`.
 *
 * @example
 * const store = postgresStore({ client: fromSequelize(sequelize) });
 */
export function fromSequelize<Tx extends object>(sequelize: SequelizeInstance<Tx>): OrmClient<Tx> {
  expectPostgres("Sequelize", sequelize.getDialect(), /^postgres$/);
  return {
    orm: "Sequelize",
    begin: (work) => sequelize.transaction({ isolationLevel: "READ COMMITTED" } as never, work),
    async run({ text, params }, tx) {
      const bind = params.length === 0 ? {} : { bind: params };
      // Null, so that a transaction of continuation-local storage is not used instead; and no default of the host's counts.
      const options = { raw: true, type: "RAW", nest: false, plain: false, transaction: tx ?? null, ...bind };
      const [rows] = (await sequelize.query(text, options as never)) as readonly unknown[];
      return rowsOf(rows);
    },
    isOpen: (tx) => "id" in tx && (tx as Inside).finished === undefined,
    guard(tx, judge) {
      const inside = tx as Inside;
      const { connection } = inside;
      if (connection === undefined) return { tx };
      inside.connection = judgedCopy(connection, judge, { senders: { query: textOf } });
      // Were their statement refused, Sequelize would give the connection back with its transaction open.
      const ends = refuseMethods(tx, judge, ["commit", "rollback"]);
      return {
        tx,
        release() {
          // The pool takes back what it gave.
          inside.connection = connection;
          ends();
        },
      };
    },
  };
}
