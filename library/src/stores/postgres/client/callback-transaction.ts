import type {
  Answer,
  Backend,
  Scope,
  Session,
  Statement,
  TransactionEnd,
  TransactionLimits,
  Work,
} from "./database.js";
import { beforeAbort, ignore, within } from "./deadline.js";
import {
  isAnswerLost,
  isConnectionLost,
  refusedHandler,
  saturated,
  sqlState,
  transactionAborted,
  transactionFinished,
  transactionLeft,
} from "./failure.js";
import type { Guarded } from "./guard.js";

/** A client whose transactions are callbacks: it begins and ends them itself. `Raw` is what it hands to the callback. */
export interface CallbackClient<Raw, Tx> {
  /** Calls `work` inside of a transaction, read committed, and ends it by what comes of `work`. */
  begin(work: (raw: Raw) => Promise<void>, limits: TransactionLimits): Promise<unknown>;
  /** What the store and the handler use of an open transaction. */
  enter(raw: Raw, limits: TransactionLimits): Entered<Tx>;
  /** Whether it sends a statement before the last one was answered. */
  readonly pipelines: boolean;
  /** Ends the server process of a transaction that does not end after its deadline. */
  terminate(backend: Backend): void;
}

export interface Entered<Tx> {
  readonly session: Session;
  readonly guard: Guarded<Tx>;
  /** Writes what the client holds back until the commit, so that it is proved with the rest. */
  readonly flush?: () => Promise<void>;
  /** Called before the client ends the transaction by itself, and when that is over. */
  readonly ends?: (how: Ending) => void;
}

export type Ending = "commit" | "rollback" | "over";

/** How much of the proof a transaction needs: one statement of our own, whose failure throws, needs none. */
interface Attempted<Tx, T> {
  readonly work: (scope: Scope<Tx>) => Promise<T>;
  readonly limits: TransactionLimits;
  readonly proves: boolean;
}

// Longer than a rollback takes; after that, another connection terminates the server process.
export const ROLLBACK_MS = 1000;

/** Runs transactions on a client that hides the connection, the commit's tag and the time a transaction began. */
export class CallbackTransactions<Raw, Tx> {
  readonly #client: CallbackClient<Raw, Tx>;

  constructor(client: CallbackClient<Raw, Tx>) {
    this.#client = client;
  }

  run<T>(first: Statement, work: Work<Tx, T>, limits: TransactionLimits): Promise<TransactionEnd<T>> {
    return this.#attempt({
      work: (scope) => this.#whole(scope, first, { work, limits }),
      limits,
      proves: true,
    });
  }

  write(statement: Statement, limits: TransactionLimits): Promise<TransactionEnd<Answer>> {
    return this.#attempt({
      work: (scope) => this.#whole(scope, statement, { work: asAnswered, limits }),
      limits,
      proves: false,
    });
  }

  async #whole<T>(
    scope: Scope<Tx>,
    first: Statement,
    { work, limits }: { readonly work: Work<Tx, T>; readonly limits: TransactionLimits },
  ): Promise<T> {
    const set = limits.settings && scope.query(limits.settings);
    if (!this.#client.pipelines) await set;
    const answer = scope.query(first);
    await Promise.all([set, answer]);
    const value = await work(scope, await answer);
    if (scope.closing) {
      const last = await scope.query(scope.closing);
      scope.onClosed?.(last);
    }
    return value;
  }

  async #attempt<T>(attempted: Attempted<Tx, T>): Promise<TransactionEnd<T>> {
    const { acquireMs, signal } = attempted.limits;
    const attempt = new Attempt<Raw, Tx, T>(this.#client, attempted);
    const running = this.#client.begin((raw) => attempt.run(raw), attempted.limits);
    const over = (): void => attempt.over();
    running.then(over, () => {
      attempt.lose();
      over();
    });
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

  /** Waits until the client has ended the transaction; past the deadline no longer than a rollback takes. */
  async #ended<T>(
    running: Promise<unknown>,
    attempt: Attempt<Raw, Tx, T>,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      await beforeAbort(running, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      const rolledBack = running.then(
        () => true,
        () => true,
      );
      const inTime = await within(rolledBack, ROLLBACK_MS);
      if (inTime === undefined && attempt.backend) this.#client.terminate(attempt.backend);
      throw error;
    }
  }
}

function asAnswered(_scope: unknown, answer: Answer): Promise<Answer> {
  return Promise.resolve(answer);
}

// Turns of the microtask queue after which the driver has reported a lost connection; it takes about 5.
const TURNS = 20;
// A socket that failed is closed before the event loop has gone round once more.
const LOOPS = 3;

type Stage = "queued" | "abandoned" | "working" | "committing";

/** One call of the client's callback. */
class Attempt<Raw, Tx, T> {
  readonly began: Promise<true>;
  readonly #client: CallbackClient<Raw, Tx>;
  readonly #attempted: Attempted<Tx, T>;
  #stage: Stage = "queued";
  #begin: (value: true) => void = ignore;
  #entered: Entered<Tx> | undefined;
  #scope: Scope<Tx> | undefined;
  #value: { readonly value: T } | undefined;
  #aborted = false;
  #lost = false;

  constructor(client: CallbackClient<Raw, Tx>, attempted: Attempted<Tx, T>) {
    this.#client = client;
    this.#attempted = attempted;
    this.began = new Promise((resolve) => {
      this.#begin = resolve;
    });
  }

  get backend(): Scope<Tx>["backend"] {
    return this.#scope?.backend;
  }

  async run(raw: Raw): Promise<void> {
    // The connection came too late: the throw makes the client roll back and release it.
    if (this.#stage === "abandoned") throw transactionFinished();
    const { work, limits, proves } = this.#attempted;
    this.#stage = "working";
    this.#begin(true);
    const entered = this.#client.enter(raw, limits);
    const { session, guard } = entered;
    this.#entered = entered;
    this.#scope = { query: (statement) => session.query(statement), tx: guard.tx, backend: undefined };
    try {
      this.#value = { value: await this.#inTime(work(this.#scope)) };
      if (entered.flush) await this.#inTime(entered.flush());
      guard.close();
      const refusal = guard.refusal();
      if (refusal !== undefined) throw refusal;
      await this.#stillThere(guard.isLost());
      if (proves) await this.#prove(session, this.#scope);
      this.#stage = "committing";
      entered.ends?.("commit");
    } catch (error) {
      guard.close();
      // The client's rollback waits behind the statement that runs.
      guard.cancel(this.backend);
      await this.#stillThere(guard.isLost() || isConnectionLost(error));
      entered.ends?.("rollback");
      throw refusedHandler(guard.refusal(), { error });
    }
  }

  #inTime<V>(promise: Promise<V>): Promise<V> {
    return beforeAbort(promise, this.#attempted.limits.signal);
  }

  /**
   * Never returns when the connection was lost: whatever the driver or we send next would be written to a socket
   * that is null, which ends the process, or to a connection that already serves another. A statement has `failed` with the
   * socket before the driver reports the loss; what is sent in between, `postgres` never answers, and from then on it hands the
   * answers of the new connection to the wrong statements.
   */
  async #stillThere(failed: boolean): Promise<void> {
    for (let turn = 0; turn < TURNS && !this.#lost; turn++) await Promise.resolve();
    const loops = failed ? LOOPS : 0;
    for (let loop = 0; loop < loops && !this.#lost; loop++)
      await new Promise((resolve) => setTimeout(resolve, 0));
    if (this.#lost) await new Promise<never>(ignore);
  }

  lose(): void {
    this.#lost = true;
    this.#entered?.guard.close();
  }

  over(): void {
    this.#entered?.ends?.("over");
  }

  /** Finds out a transaction that is aborted or over: the driver would commit either without an error. */
  async #prove(session: Session, { backend }: Scope<Tx>): Promise<void> {
    const text = "select pg_current_xact_id_if_assigned()::text as xid";
    try {
      const { rows } = await this.#inTime(session.query({ text }));
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
