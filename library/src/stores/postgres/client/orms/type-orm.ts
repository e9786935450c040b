import { judgeMethods, refuseMethods } from "./judged-methods.js";
import type { OrmClient } from "./orm-client.js";
import { rowsOf, textOf } from "./orm-query.js";
import { expectPostgres } from "./unsupported.js";

/** The manager of a TypeORM transaction. */
export interface TypeOrmManager {
  query(text: string, parameters?: never[]): Promise<unknown>;
  readonly queryRunner?: { readonly isTransactionActive: boolean } | undefined;
}

/** A TypeORM DataSource on Postgres. */
export interface TypeOrmDataSource<Tx extends TypeOrmManager> {
  readonly options: { readonly type: string };
  transaction<T>(isolation: "READ COMMITTED", work: (tx: Tx) => Promise<T>): Promise<T>;
  query(text: string, parameters?: never[]): Promise<unknown>;
}

/**
 * A TypeORM DataSource as the client of `postgresStore`: handlers get the transaction's EntityManager.
 *
 * @example
 * const store = postgresStore({ client: fromTypeOrm(dataSource) });
 */
export function fromTypeOrm<Tx extends TypeOrmManager>(source: TypeOrmDataSource<Tx>): OrmClient<Tx> {
  expectPostgres("TypeORM", source.options.type, /^postgres$/);
  return {
    orm: "TypeORM",
    begin: (work) => source.transaction("READ COMMITTED", work),
    async run({ text, params }, tx) {
      // Without parameters at all, so that several statements can stand in one text.
      const result = await (tx ?? source).query(text, params.length === 0 ? undefined : (params as never[]));
      // An update or a delete gives its rows and their number; several statements give nothing.
      const rows = rowsOf(result);
      return Array.isArray(rows[0]) ? (rows[0] as readonly unknown[]) : rows;
    },
    isOpen: (tx) => tx.queryRunner?.isTransactionActive === true,
    guard(tx, judge) {
      const runner = tx.queryRunner;
      if (runner === undefined) return { tx };
      judgeMethods(runner, judge, { query: textOf, stream: textOf });
      // The runner is made for this transaction. Released by the handler, its connection would go back with the transaction open.
      return { tx, release: refuseMethods(runner, judge, ["release"]) };
    },
  };
}
