import { judgeMethods } from "./judged-methods.js";
import type { Judge, OrmClient } from "./orm-client.js";
import { compiledText } from "./orm-query.js";
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
interface Executor {
  withoutPlugins(): Executor;
  withPlugin(plugin: object): Executor;
  executeQuery(query: object): Promise<{ readonly rows: readonly unknown[] }>;
  readonly isTransaction: boolean;
  getExecutor(): { readonly adapter?: object };
}

/**
 * A Kysely database as the client of `postgresStore`: handlers get Kysely's `trx`.
 *
 * @example
 * import { CompiledQuery } from "kysely";
 * const store = postgresStore({ client: fromKysely(db, CompiledQuery) });
 */
export function fromKysely<Tx>(db: KyselyDatabase<Tx>, compiled: KyselyCompiledQuery): OrmClient<Tx> {
  const dialect = (db as unknown as Partial<Executor>).getExecutor?.().adapter?.constructor.name ?? "";
  // By the names of the others: a bundler may have given the class of Postgres any name.
  expectPostgres("Kysely", dialect, /^(?!.*(?:sqlite|mysql|mssql))/i);
  return {
    orm: "Kysely",
    begin: (work) => db.transaction().setIsolationLevel("read committed").execute(work),
    async run({ text, params }, tx) {
      // Without the host's plug-ins: some give columns other names.
      const executor = ((tx ?? db) as unknown as Executor).withoutPlugins();
      return (await executor.executeQuery(compiled.raw(text, [...params]))).rows;
    },
    isOpen: (tx) => (tx as unknown as Executor).isTransaction,
    guard: (tx, judge) => ({ tx: judgedTransaction(tx as unknown as Executor, judge) as unknown as Tx }),
  };
}

/** Builders and `sql` ask a plug-in first; a compiled query does not. */
function judgedTransaction(tx: Executor, judge: Judge): Executor {
  const guarded = tx.withPlugin({
    transformQuery({ node }: { readonly node: RawNode }) {
      if (node.kind === "RawNode") judge((node.sqlFragments ?? []).join(" $1 "));
      return node;
    },
    transformResult: ({ result }: { readonly result: unknown }) => Promise.resolve(result),
  });
  judgeMethods(guarded, judge, { executeQuery: compiledText });
  return guarded;
}

interface RawNode {
  readonly kind: string;
  readonly sqlFragments?: readonly string[];
}
