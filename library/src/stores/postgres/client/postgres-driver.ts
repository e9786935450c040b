import { BYTEA, bytesOfText } from "./bytea.js";
import { cancelQuery } from "./cancel.js";
import type { PostgresQuery, PostgresSql, PostgresTransaction } from "./drivers.js";
import type {
  Answer,
  Pool,
  Row,
  Scope,
  Session,
  Statement,
  TransactionEnd,
  TransactionLimits,
  Value,
  Work,
  WriteLimits,
} from "./database.js";
import { BEGIN_OPTIONS, terminateStatement } from "./database.js";
import { beforeAbort, ignore, within } from "./deadline.js";
import type { Guarded } from "./guard.js";
import { guardSql } from "./guard.js";
import {
  isAnswerLost,
  refusedHandler,
  saturated,
  sqlState,
  transactionAborted,
  transactionFinished,
  transactionLeft,
} from "./failure.js";

interface Asks {
  unsafe(query: string, parameters?: never[], options?: { prepare?: boolean }): PostgresQuery;
}

function ask(sql: Asks, { text, params, prepared }: Statement, prepare: boolean): PostgresQuery {
  if (params === undefined) return sql.unsafe(text);
  return sql.unsafe(text, [...params] as never[], { prepare: prepare && prepared === true });
}

async function answerOf(query: PostgresQuery): Promise<Answer> {
  const result = await query.raw();
  const { command, columns } = result;
  // Several statements have several results, and nobody reads their rows.
  const rows = columns ? Array.from(result as ArrayLike<RawRow>, (row) => rowOf(row, columns)) : [];
  return { rows, command };
}

/** The driver's own buffers: parts of what came from the socket, in the server's text format. */
type RawRow = readonly ({ toString(encoding: "utf8"): string } | null)[];

function rowOf(row: RawRow, columns: readonly { readonly type: number }[]): Row {
  return row.map((value, n): Value => {
    const text = value?.toString("utf8") ?? null;
    return text !== null && columns[n]?.type === BYTEA ? bytesOfText(text) : text;
  });
}

/** One connection of `postgres`. */
export function postgresSession(sql: Asks, prepare: boolean): Session {
  return { query: (statement) => answerOf(ask(sql, statement, prepare)) };
}

const CANCEL_MS = 2000;
// Longer than a rollback takes; after that, another connection terminates the server process.
const ROLLBACK_MS = 1000;

/** The `sql` of `postgres`. */
export class PostgresDriver<Tx> implements Pool<Tx> {
  readonly #sql: PostgresSql<PostgresTransaction>;
  readonly #prepare: boolean;

  constructor(sql: PostgresSql<PostgresTransaction>, prepare: boolean) {
    this.#sql = sql;
    this.#prepare = prepare;
  }

  async query(statement: Statement, acquireMs: number): Promise<Answer> {
    const query = ask(this.#sql, statement, this.#prepare);
    const answer = answerOf(query);
    const inTime = await within(answer, acquireMs);
    if (inTime) return inTime;
    // An unsent query is withdrawn; for a sent one the server is asked to stop it. Either way the query's own end tells which.
    cancelQuery(query);
    try {
      const late = await within(answer, CANCEL_MS);
      if (late) return late;
    } catch (error) {
      throw (error as { code?: unknown } | null)?.code === "57014" ? saturated(acquireMs) : error;
    }
    answer.catch(ignore);
    // The driver never settles a query that was sent while its connection was being reset.
    throw new Error("the driver gave no answer, not even to a cancel");
  }

  async transaction<T>(
    first: Statement,
    work: Work<Tx, T>,
    { acquireMs, signal, settings }: TransactionLimits,
  ): Promise<TransactionEnd<T>> {
    const whole = async (scope: Scope<Tx>): Promise<T> => {
      // Sent together: the driver does not wait for an answer before it sends the next one.
      const set = settings && scope.query(settings);
      const answer = scope.query(first);
      await Promise.all([set, answer]);
      const value = await work(scope, await answer);
      if (scope.closing) await scope.query(scope.closing);
      return value;
    };
    const attempt = new Attempt(whole, signal, this.#prepare);
    const running = this.#sql.begin(BEGIN_OPTIONS, (sql) => attempt.run(sql));
    running.catch(() => attempt.lose());
    if (
      (await within(Promise.race([attempt.began, running]), acquireMs)) === undefined &&
      attempt.abandon()
    ) {
      throw saturated(acquireMs);
    }
    try {
      await this.#ended(running, attempt, signal);
    } catch (error) {
      return attempt.failed(error);
    }
    return attempt.committed();
  }

  write(statement: Statement, limits: WriteLimits): Promise<TransactionEnd<Answer>> {
    return this.transaction(statement, (_scope, answer) => Promise.resolve(answer), limits);
  }

  /** Waits until the driver has ended the transaction; past the deadline no longer than a rollback takes. */
  async #ended<T>(running: Promise<unknown>, attempt: Attempt<Tx, T>, signal: AbortSignal): Promise<void> {
    try {
      await beforeAbort(running, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      const rolledBack = running.then(
        () => true,
        () => true,
      );
      if ((await within(rolledBack, ROLLBACK_MS)) === undefined) this.#terminate(attempt.backend);
      throw error;
    }
  }

  #terminate(backend: Scope<Tx>["backend"]): void {
    if (backend) this.query(terminateStatement(backend), ROLLBACK_MS).catch(ignore);
  }
}

// Turns of the microtask queue after which the driver has reported a lost connection; it takes about 5.
const TURNS = 20;

type Stage = "queued" | "abandoned" | "working" | "committing";

/** One call of the callback of `sql.begin`, which hides the connection, the commit's tag and the time it began. */
class Attempt<Tx, T> {
  readonly began: Promise<true>;
  readonly #work: (scope: Scope<Tx>) => Promise<T>;
  readonly #signal: AbortSignal;
  readonly #prepare: boolean;
  #stage: Stage = "queued";
  #begin: (value: true) => void = ignore;
  #guard: Guarded<PostgresTransaction> | undefined;
  #scope: Scope<Tx> | undefined;
  #value: { readonly value: T } | undefined;
  #aborted = false;
  #lost = false;

  constructor(work: (scope: Scope<Tx>) => Promise<T>, signal: AbortSignal, prepare: boolean) {
    this.#work = work;
    this.#signal = signal;
    this.#prepare = prepare;
    this.began = new Promise((resolve) => {
      this.#begin = resolve;
    });
  }

  get backend(): Scope<Tx>["backend"] {
    return this.#scope?.backend;
  }

  async run(sql: PostgresTransaction): Promise<void> {
    // The connection came too late: the throw makes the driver roll back and release it.
    if (this.#stage === "abandoned") throw transactionFinished();
    this.#stage = "working";
    this.#begin(true);
    const guard = guardSql(sql);
    this.#guard = guard;
    const session = postgresSession(sql, this.#prepare);
    this.#scope = { ...session, tx: guard.tx as Tx, backend: undefined };
    try {
      this.#value = { value: await beforeAbort(this.#work(this.#scope), this.#signal) };
      guard.close();
      const refusal = guard.refusal();
      if (refusal !== undefined) throw refusal;
      await this.#stillThere();
      await this.#prove(session, this.#scope);
      this.#stage = "committing";
    } catch (error) {
      guard.close();
      // The driver's rollback waits behind the statement that runs.
      guard.cancel();
      await this.#stillThere();
      throw refusedHandler(guard.refusal(), { error });
    }
  }

  /**
   * Never returns when the connection was lost: whatever the driver or we send next would be written to a socket
   * that is null, which ends the process, or to a connection that already serves another.
   */
  async #stillThere(): Promise<void> {
    for (let turn = 0; turn < TURNS && !this.#lost; turn++) await Promise.resolve();
    if (this.#lost) await new Promise<never>(ignore);
  }

  lose(): void {
    this.#lost = true;
    this.#guard?.close();
  }

  /** Finds out a transaction that is aborted or over: the driver would commit either without an error. */
  async #prove(session: Session, { backend }: Scope<Tx>): Promise<void> {
    const text = "select pg_current_xact_id_if_assigned()::text as xid";
    try {
      const { rows } = await beforeAbort(session.query({ text }), this.#signal);
      if (backend && rows[0]?.[0] !== backend.xid) throw transactionLeft();
    } catch (error) {
      this.#aborted = sqlState(error) === "25P02";
      // Rethrown as it is: the driver replaces it with the error of the first failed statement.
      throw error;
    }
  }

  /** Gives up waiting for a connection; false when there is one after all. */
  abandon(): boolean {
    if (this.#stage !== "queued") return false;
    this.#stage = "abandoned";
    return true;
  }

  committed(): TransactionEnd<T> {
    if (!this.#value) throw transactionFinished();
    return { kind: "committed", value: this.#value.value };
  }

  failed(error: unknown): TransactionEnd<T> {
    if (this.#stage === "queued") throw error;
    if (this.#stage === "committing" && isAnswerLost(error)) return { kind: "unknown", error };
    return { kind: "rolled_back", error: this.#aborted ? transactionAborted(error) : error };
  }
}
