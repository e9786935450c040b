import { cancelQuery } from "./cancel.js";
import type { PgClient, PostgresQuery, PostgresTransaction } from "./drivers.js";
import { sqlState, transactionFinished } from "./failure.js";

/**
 * A transaction as the handler sees it. Both drivers run a statement that comes late, from a promise that was not
 * awaited, on a connection that is by then another's: it would be committed outside of any transaction, or inside
 * a stranger's. Closed, the guard refuses it.
 */
export interface Guarded<Tx> {
  readonly tx: Tx;
  readonly close: () => void;
  /** The last statement that failed, where the driver tells: the likely cause of an aborted transaction. */
  readonly failure: () => unknown;
  /** Asks the server to cancel the statement that is running. */
  readonly cancel: () => void;
}

// The store releases the connection; a handler that did would hand an open transaction to the next user of the pool.
function refuse(): never {
  throw transactionFinished();
}

/** Guards a client of `pg`. */
export function guardClient<Tx extends PgClient>(client: Tx): Guarded<Tx> {
  let open = true;
  let failure: unknown;
  const query = (...args: unknown[]): unknown => {
    if (!open) throw transactionFinished();
    const answer = (client as unknown as { query: AnyFunction }).query(...args);
    if (answer instanceof Promise) {
      answer.catch((error: unknown) => {
        // 25P02 only repeats that an earlier statement failed.
        if (sqlState(error) !== "25P02") failure = error;
      });
    }
    return answer;
  };
  const tx = new Proxy(client, {
    get(target, name) {
      if (name === "query") return query;
      if (name === "release" || name === "end") return refuse;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" && name !== "constructor" ? value.bind(target) : value;
    },
  });
  return { tx, close: () => (open = false), failure: () => failure, cancel: () => {} };
}

type AnyFunction = (...args: unknown[]) => unknown;

// More than a handler has under way at once; older queries have been answered.
const REMEMBERED = 64;

/** Guards the `sql` of a transaction of `postgres`, and that of its savepoints. */
export function guardSql<Tx extends PostgresTransaction>(sql: Tx): Guarded<Tx> {
  let open = true;
  const asked: (PostgresQuery & { readonly active?: boolean })[] = [];
  const guarded =
    (call: AnyFunction): AnyFunction =>
    (...args) => {
      if (!open) throw transactionFinished();
      const made = call(...args);
      if (isQuery(made) && asked.push(made) > REMEMBERED) asked.shift();
      return made;
    };
  const wrap = <Sql extends object>(target: Sql): Sql =>
    new Proxy(target, {
      apply: (inner, _self, args) => guarded(inner as AnyFunction)(...(args as unknown[])),
      get(inner, name) {
        const value: unknown = Reflect.get(inner, name, inner);
        if (name === "unsafe" || name === "file" || name === "notify") return guarded(value as AnyFunction);
        if (name !== "savepoint") return value;
        return guarded((...args) => (value as AnyFunction)(...args.map((each) => wrapped(each))));
      },
    });
  const wrapped = (value: unknown): unknown =>
    typeof value === "function" ? (inner: object) => (value as AnyFunction)(wrap(inner)) : value;
  return {
    tx: wrap(sql),
    close: () => (open = false),
    failure: () => undefined,
    // To cancel a query that was not sent yet would reject a promise that nobody awaits.
    cancel: () => asked.filter((query) => query.active === true).forEach(cancelQuery),
  };
}

function isQuery(value: unknown): value is PostgresQuery {
  return value instanceof Promise && "cancel" in value;
}
