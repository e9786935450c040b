import { judgeExecutor } from "./judged-executor.js";
import type { KyselyExecutor } from "./judged-executor.js";
import type { OrmClient } from "./orm-client.js";
import { expectPostgres } from "./unsupported.js";

/** A Kysely database on Postgres, or a transaction of it. */
export interface KyselyDatabase<Tx> {
  transaction(): {
    setIsolationLevel(level: "read committed"): { execute<T>(work: (tx: Tx) => Promise<T>): Promise<T> };
  };
  readonly isTransaction: boolean;
}

/** Kysely's `CompiledQuery`. */
export interface KyselyCompiledQuery {
  raw(text: string, values?: unknown[]): object;
}

/** The parts of a transaction that are used, in types that fit every schema. */
interface Inside {
  withoutPlugins(): Inside;
  executeQuery(query: object): Promise<{ readonly rows: readonly unknown[] }>;
  readonly isTransaction: boolean;
  getExecutor(): KyselyExecutor;
}

/**
 * A Kysely database as the client of `postgresStore`: handlers get Kysely's `trx`.
 *
 * @example
 * import { CompiledQuery } from "kysely";
 * const store = postgresStore({ client: fromKysely(db, CompiledQuery) });
 */
export function fromKysely<Tx>(db: KyselyDatabase<Tx>, compiled: KyselyCompiledQuery): OrmClient<Tx> {
  const dialect = (db as unknown as Partial<Inside>).getExecutor?.().adapter?.constructor.name ?? "";
  // By the names of the others: a bundler may have given the class of Postgres any name.
  expectPostgres("Kysely", dialect, /^(?!.*(?:sqlite|mysql|mssql))/i);
  return {
    orm: "Kysely",
    begin: (work) => db.transaction().setIsolationLevel("read committed").execute(work),
    async run({ text, params }, tx) {
      // Without the host's plug-ins: some give columns other names.
      const executor = ((tx ?? db) as unknown as Inside).withoutPlugins();
      return (await executor.executeQuery(compiled.raw(text, [...params]))).rows;
    },
    isOpen: (tx) => (tx as unknown as Inside).isTransaction,
    guard(tx, judge) {
      judgeExecutor((tx as unknown as Inside).getExecutor(), judge);
      return { tx };
    },
  };
}
