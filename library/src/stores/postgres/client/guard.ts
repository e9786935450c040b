import type { PosthornError } from "../../../posthorn-error.js";
import { transactionCommand } from "../../../transaction-command.js";
import { cancelQuery } from "./cancel.js";
import type { Backend } from "./database.js";
import type { PgClient, PostgresQuery, PostgresTransaction } from "./drivers.js";
import {
  isConnectionLost,
  sqlState,
  transactionFinished,
  transactionLeft,
  transactionOwned,
} from "./failure.js";

/**
 * A transaction as the handler sees it. Closed, it refuses every query: both drivers run a statement that comes late,
 * from a promise that was not awaited, on a connection that is by then another's, where it would be committed outside of
 * any transaction, or inside a stranger's. Open, it refuses statements that begin or end transactions: what the handler
 * wrote would be committed apart from its event, or again with each delivery. A refusal rejects as a failed query does; a throw
 * would pass by a `.catch`.
 */
export interface Guarded<Tx> {
  readonly tx: Tx;
  readonly close: () => void;
  /** The last statement that failed, where the driver tells: the likely cause of an aborted transaction. */
  readonly failure: () => unknown;
  /** Why a statement of the open transaction was refused: its event fails, even where the handler swallowed the refusal. */
  readonly refusal: () => PosthornError | undefined;
  /** Whether a statement failed with its connection, even where the handler swallowed that. */
  readonly isLost: () => boolean;
  /** Asks the server to cancel the statement that is running. */
  readonly cancel: (backend?: Backend) => void;
}

type AnyFunction = (...args: unknown[]) => unknown;

/** What a guard knows of its transaction, whatever the driver. */
export class Gate {
  #open = true;
  #refusal: PosthornError | undefined;

  get refusal(): PosthornError | undefined {
    return this.#refusal;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  close(): void {
    this.#open = false;
  }

  /** Why this statement must not be sent; undefined = it may. */
  judge(text: string, isOut = false): PosthornError | undefined {
    if (!this.#open) return transactionFinished();
    if (isOut) return this.refuse(transactionLeft());
    const command = transactionCommand(text);
    return command === undefined ? undefined : this.refuse(transactionOwned(command));
  }

  /** The first one counts: those after it follow from it. */
  refuse(refusal: PosthornError): PosthornError {
    if (!this.#open) return transactionFinished();
    this.#refusal ??= refusal;
    return refusal;
  }
}

/** Guards a client of `pg`. */
export function guardClient<Tx extends PgClient>(client: Tx): Guarded<Tx> {
  const gate = new Gate();
  let failure: unknown;
  const query = (...args: unknown[]): unknown => {
    const refused = gate.judge(textOf(args[0]), isOutOfTransaction(client));
    if (refused !== undefined) return refusedQuery(args, refused);
    const answer = (client as unknown as { query: AnyFunction }).query(...args);
    if (answer instanceof Promise) {
      answer.catch((error: unknown) => {
        // 25P02 only repeats that an earlier statement failed.
        if (sqlState(error) !== "25P02") failure = error;
      });
    }
    return answer;
  };
  // The store releases the connection; a handler that did would hand an open transaction to the next user of the pool.
  const release = (): void => {
    if (gate.isOpen) throw gate.refuse(transactionOwned("release()"));
  };
  const end = (): Promise<never> => Promise.reject(gate.refuse(transactionOwned("end()")));
  const own: ReadonlyMap<unknown, unknown> = new Map<unknown, unknown>([
    ["query", query],
    ["release", release],
    ["end", end],
  ]);
  const tx = new Proxy(client, {
    get(target, name) {
      if (own.has(name)) return own.get(name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" && name !== "constructor" ? value.bind(target) : value;
    },
  });
  return {
    tx,
    close: () => gate.close(),
    failure: () => failure,
    refusal: () => gate.refusal,
    isLost: () => isConnectionLost(failure),
    cancel: () => {},
  };
}

/** Queries come as a text, as options, or as objects that write their messages themselves, as cursors do. */
function textOf(query: unknown): string {
  if (typeof query === "string") return query;
  const { text } = (query ?? {}) as { readonly text?: unknown };
  return typeof text === "string" ? text : "";
}

/** As of the last answer. Older versions of pg do not have it; there, only the proof before the commit tells. */
export function isOutOfTransaction(client: object): boolean {
  return (client as { getTransactionStatus?: () => unknown }).getTransactionStatus?.() === "I";
}

interface OwnQuery {
  submit?: unknown;
  callback?: unknown;
  handleError?: (error: unknown) => void;
}

/** Ends a query in the way that its caller waits for: by callback, by its own method, or by a promise. */
function refusedQuery(args: readonly unknown[], refused: PosthornError): unknown {
  const query = (args[0] ?? {}) as OwnQuery;
  const callback = args.find((each) => typeof each === "function") ?? query.callback;
  const isOwn = typeof query.submit === "function";
  if (typeof callback === "function") queueMicrotask(() => (callback as AnyFunction)(refused));
  else if (isOwn) queueMicrotask(() => query.handleError?.(refused));
  else return Promise.reject(refused);
  return isOwn ? query : undefined;
}

// More than a handler has under way at once; older queries have been answered.
const REMEMBERED = 64;

/** A query of `postgres` before it is sent, as far as it is looked at here. */
type UnsentQuery = PostgresQuery & {
  readonly active?: boolean;
  readonly strings?: readonly string[];
  readonly args?: readonly unknown[];
  /** Sends it. */
  handler?: ((query: UnsentQuery) => unknown) & { debug?: unknown };
  reject?: (error: unknown) => void;
};

/** Guards the `sql` of a transaction of `postgres`, and that of its savepoints. */
export function guardSql<Tx extends PostgresTransaction>(sql: Tx): Guarded<Tx> {
  const gate = new Gate();
  const asked: UnsentQuery[] = [];
  let loss: { readonly error: unknown } | undefined;
  // Judged when it is sent: until then it may be a part of another query, and may be sent after the end.
  const watched = (made: unknown): unknown => {
    if (!isQuery(made)) return made;
    const send = made.handler;
    if (typeof send !== "function") {
      const refused = gate.judge(textOfQuery(made));
      return refused === undefined ? made : Promise.reject(refused);
    }
    const judged = (query: UnsentQuery): unknown => {
      const refused = gate.judge(textOfQuery(query));
      if (refused !== undefined) return query.reject?.(refused);
      // The socket has failed, and is not closed yet: the driver would take the statement, and never answer it.
      if (loss !== undefined) return query.reject?.(loss.error);
      if (asked.push(query) > REMEMBERED) asked.shift();
      hearRejection(query, (error) => {
        if (isConnectionLost(error)) loss = { error };
      });
      return send(query);
    };
    made.handler = Object.assign(judged, { debug: send.debug });
    return made;
  };
  const wrap = <Sql extends object>(target: Sql): Sql =>
    new Proxy(target, {
      apply: (inner, _self, args) => watched((inner as AnyFunction)(...(args as unknown[]))),
      get: (inner, name) => member(name, Reflect.get(inner, name, inner)),
    });
  const member = (name: unknown, value: unknown): unknown => {
    const call = value as AnyFunction;
    if (name === "unsafe" || name === "file") return (...args: unknown[]) => watched(call(...args));
    // These are sent at once.
    if (name === "notify" || name === "savepoint") {
      return (...args: unknown[]) => {
        if (!gate.isOpen) return Promise.reject(transactionFinished());
        return call(...args.map((each) => (name === "savepoint" ? wrapped(each) : each)));
      };
    }
    // The driver has none inside of a transaction; an ORM that calls it would be told that it is not a function.
    if (name === "begin") return () => Promise.reject(gate.refuse(transactionOwned("begin")));
    if (name !== "prepare") return value;
    return () => {
      throw gate.refuse(transactionOwned("prepare transaction"));
    };
  };
  const wrapped = (value: unknown): unknown =>
    typeof value === "function" ? (inner: object) => (value as AnyFunction)(wrap(inner)) : value;
  return {
    tx: wrap(sql),
    close: () => gate.close(),
    failure: () => undefined,
    refusal: () => gate.refusal,
    isLost: () => loss !== undefined,
    // To cancel a query that was not sent yet would reject a promise that nobody awaits.
    cancel: () => asked.filter((query) => query.active === true).forEach(cancelQuery),
  };
}

/** Without a `then`, which would send the query. */
function hearRejection(query: UnsentQuery, hear: (error: unknown) => void): void {
  const { reject } = query;
  query.reject = (error) => {
    hear(error);
    reject?.call(query, error);
  };
}

/** The text of a query as it will be sent, with the text of the parts that are queries themselves. */
function textOfQuery({ strings = [], args = [] }: UnsentQuery): string {
  let text = "";
  strings.forEach((part, n) => {
    const value = args[n - 1];
    const between = isQuery(value) ? textOfQuery(value) : " $1 ";
    text += n === 0 ? part : between + part;
  });
  return text;
}

function isQuery(value: unknown): value is UnsentQuery {
  return value instanceof Promise && "cancel" in value;
}
