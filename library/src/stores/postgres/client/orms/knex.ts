import { refuseMethods } from "./judged-methods.js";
import type { Judge, OrmClient, OrmQuery } from "./orm-client.js";
import { rowsOf, splitQuery } from "./orm-query.js";
import { expectPostgres } from "./unsupported.js";

/** What of Knex runs a statement: an instance, or a transaction of it. */
export interface KnexRaw {
  raw(text: string, bindings: never): PromiseLike<unknown>;
}

/** A Knex instance on Postgres. */
export interface KnexInstance<Tx> extends KnexRaw {
  transaction<T>(work: (tx: Tx) => Promise<T>, config?: { isolationLevel?: "read committed" }): Promise<T>;
}

interface Inside {
  readonly client?: { readonly config?: { readonly client?: unknown } };
  readonly isTransaction?: boolean;
  isCompleted?(): boolean;
  on?(event: "query", listener: (query: { readonly sql?: string }) => void): unknown;
}

/**
 * A Knex instance as the client of `postgresStore`: handlers get Knex's `trx`.
 *
 * @example
 * const store = postgresStore({ client: fromKnex(knex) });
 */
export function fromKnex<Tx>(knex: KnexInstance<Tx>): OrmClient<Tx> {
  const driver = (knex as Inside).client?.config?.client;
  if (typeof driver === "string") expectPostgres("Knex", driver, /^(?:pg|postgres)/);
  return {
    orm: "Knex",
    begin: (work) => knex.transaction(work, { isolationLevel: "read committed" }),
    run: (query, tx) => runRaw((tx ?? knex) as KnexRaw, query),
    isOpen: (tx) => (tx as Inside).isTransaction === true && (tx as Inside).isCompleted?.() === false,
    guard(tx, judge) {
      judgeQueries(tx as object, judge);
      // Were their statement refused, Knex would give the connection back with its transaction open.
      return { tx, release: refuseMethods(tx as object, judge, ["commit", "rollback"]) };
    },
  };
}

/** By `?`, which Knex numbers anew; those that are operators of Postgres are escaped. */
export async function runRaw(knex: KnexRaw, query: OrmQuery): Promise<readonly unknown[]> {
  const { strings, values } = splitQuery(query);
  const text = strings.map((part) => part.replaceAll("?", String.raw`\?`)).join("?");
  return rowsOf(await knex.raw(text, values as never));
}

/** Statements are told before they are sent, and what a listener throws rejects them. */
export function judgeQueries(tx: object, judge: Judge): void {
  (tx as Inside).on?.("query", ({ sql = "" }) => judge(sql));
}
