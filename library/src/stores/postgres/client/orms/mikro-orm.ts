import { connectionOf, judgeConnection } from "./judged-executor.js";
import type { KyselyExecutor } from "./judged-executor.js";
import { refuseMethods, throwing } from "./judged-methods.js";
import type { KnexRaw } from "./knex.js";
import { judgeQueries, runRaw } from "./knex.js";
import type { Judge, OrmClient, OrmQuery } from "./orm-client.js";
import { expectPostgres } from "./unsupported.js";

/** An EntityManager of MikroORM on Postgres. */
export interface MikroOrmManager<Tx> {
  fork(): { transactional<T>(work: (em: Tx) => Promise<T>): Promise<T> };
  isInTransaction(): boolean;
}

/** What is used of it, in types that fit 6, which is built on Knex, and 7, which is built on Kysely. */
interface Inside {
  fork(): Inside;
  getPlatform?(): object;
  transactional(work: (em: never) => Promise<void>, options: object): Promise<unknown>;
  getTransactionContext(): Context | undefined;
  getKnex?(): Context;
  getKysely?(): Context;
  flush(): Promise<void>;
  isInTransaction(): boolean;
}

type Context = KnexRaw | KyselyContext;

interface KyselyContext {
  withoutPlugins(): KyselyContext;
  executeQuery(query: object): Promise<{ readonly rows: readonly unknown[] }>;
  getExecutor(): KyselyExecutor;
}

/**
 * The EntityManager of MikroORM as the client of `postgresStore`: handlers get that of the transaction, and what they have
 * changed is flushed before the event counts as applied.
 *
 * @example
 * const store = postgresStore({ client: fromMikroOrm(orm.em) });
 */
export function fromMikroOrm<Tx>(em: MikroOrmManager<Tx>): OrmClient<Tx> {
  const root = em as unknown as Inside;
  const platform = root.getPlatform?.().constructor.name ?? "";
  // By the names of the others: a bundler may have given the class of Postgres any name.
  expectPostgres("MikroORM", platform, /^(?!.*(?:sqlite|libsql|mysql|maria|mssql|oracle|mongo))/i);
  const connections = new WeakMap<Context, object>();
  /** The connection of a transaction of 7. Kysely makes its executors anew for each savepoint and schema. */
  const hold = async (context: Context | undefined): Promise<void> => {
    if (context === undefined || "raw" in context) return;
    const connection = await connectionOf(context.getExecutor());
    if (connection !== undefined) connections.set(context, connection);
  };
  return {
    orm: "MikroORM",
    // A fork each: they share no entities, and no transaction.
    begin: (work) =>
      root.fork().transactional(
        async (tx: Tx) => {
          await hold((tx as unknown as Inside).getTransactionContext());
          await work(tx);
        },
        { isolationLevel: "read committed", clear: true },
      ),
    run(query, tx) {
      const context = tx === undefined ? undefined : (tx as unknown as Inside).getTransactionContext();
      const found = context ?? root.getKysely?.() ?? root.getKnex?.();
      return runOn(found as Context, query);
    },
    isOpen: (tx) => (tx as unknown as Partial<Inside>).isInTransaction?.() === true,
    flush: (tx) => (tx as unknown as Inside).flush(),
    guard(tx, judge) {
      const context = (tx as unknown as Inside).getTransactionContext();
      if (context === undefined) return { tx };
      const connection = connections.get(context);
      if (connection !== undefined) judgeConnection(connection, judge);
      return { tx, release: judgeContext(context, judge) };
    },
  };
}

/** Not by `em.execute`, which writes the values into the text. */
async function runOn(context: Context, query: OrmQuery): Promise<readonly unknown[]> {
  if ("raw" in context) return runRaw(context, query);
  const { text: sql, params: parameters } = query;
  const compiled = { sql, parameters, query: { kind: "RawNode" }, queryId: { queryId: "posthorn" } };
  return (await context.withoutPlugins().executeQuery(compiled)).rows;
}

/** Its ends throw: MikroORM calls them without waiting for them, and then waits for an end that would not come. */
function judgeContext(context: Context, judge: Judge): () => void {
  if ("raw" in context) judgeQueries(context, judge);
  return refuseMethods(context, judge, ["commit", "rollback"], throwing);
}
