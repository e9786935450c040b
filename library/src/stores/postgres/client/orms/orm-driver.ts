import { systemClock } from "../../../../clock.js";
import { transactionCommand } from "../../../../transaction-command.js";
import { PosthornError } from "../../../../posthorn-error.js";
import type { StoreErrorCode } from "../../../../store-errors.js";
import { CallbackTransactions } from "../callback-transaction.js";
import type { Ending, Entered } from "../callback-transaction.js";
import type {
  Answer,
  Backend,
  Pool,
  Row,
  Session,
  Statement,
  TransactionEnd,
  TransactionLimits,
  Value,
  Work,
  WriteLimits,
} from "../database.js";
import { ignore } from "../deadline.js";
import { transactionFinished, transactionOwned } from "../failure.js";
import { Gate } from "../guard.js";
import type { Judge, OrmClient } from "./orm-client.js";
import { openFailure, unsupportedOrm } from "./unsupported.js";

// TCP notices a server that vanished silently in a quarter of an hour. Our own statements take milliseconds.
const ANSWER_MS = 5000;
const CANCEL_AGAIN_MS = 250;
const MOST_CANCELS = 40;

/** The transactions of an ORM: it begins and ends them, and the store and the handler share them. */
export class OrmDriver<Tx> implements Pool<Tx> {
  readonly #client: OrmClient<Tx>;
  readonly #transactions: CallbackTransactions<Tx, Tx>;
  #probed: Promise<void> | undefined;

  constructor(client: OrmClient<Tx>) {
    this.#client = client;
    this.#transactions = new CallbackTransactions<Tx, Tx>({
      pipelines: false,
      begin: (work, limits) => this.#begin(work, limits),
      enter: (tx, limits) => this.#enter(tx, limits),
      // Its statement was cancelled. Drivers whose connection ends while an ORM has it emit an error that nobody hears.
      terminate: ignore,
    });
  }

  /** In a transaction, though it is one statement: only the callback of one tells that there is a connection. */
  async query(statement: Statement, acquireMs: number): Promise<Answer> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(unanswered()), acquireMs + ANSWER_MS);
    try {
      const end = await this.#transactions.write(statement, { acquireMs, signal: deadline.signal });
      if (end.kind === "committed") return end.value;
      throw end.error;
    } finally {
      clearTimeout(timer);
    }
  }

  async transaction<T>(
    first: Statement,
    work: Work<Tx, T>,
    limits: TransactionLimits,
  ): Promise<TransactionEnd<T>> {
    await (this.#probed ??= this.#probe(limits));
    return this.#transactions.run(first, work, limits);
  }

  async write(statement: Statement, limits: WriteLimits): Promise<TransactionEnd<Answer>> {
    await (this.#probed ??= this.#probe(limits));
    return this.#transactions.write(statement, limits);
  }

  /**
   * Asks twice for the id of one transaction. A driver without interactive transactions gives two: found out here, before a
   * handler has written anything.
   */
  async #probe({ acquireMs, signal }: TransactionLimits): Promise<void> {
    const id: Statement = { text: "select pg_current_xact_id()::text as xid" };
    try {
      const end = await this.#transactions.run(
        id,
        async (scope, first) => [first.rows[0]?.[0], (await scope.query(id)).rows[0]?.[0]],
        { acquireMs, signal },
      );
      if (end.kind !== "committed") throw end.error;
      const [first, second] = end.value;
      if (first === second && typeof first === "string") return;
      throw unsupportedOrm(
        this.#client.orm,
        "two statements of one transaction ran in two; use a driver that keeps a connection",
      );
    } catch (error) {
      this.#probed = undefined;
      throw error;
    }
  }

  /** What `work` throws is handed on as it is: ORMs wrap it, replace it, or trip over what is no Error. */
  async #begin(work: (tx: Tx) => Promise<void>, limits: TransactionLimits): Promise<void> {
    let thrown: { readonly error: unknown } | undefined;
    try {
      await this.#client.begin(async (tx) => {
        try {
          await work(tx);
        } catch (error) {
          thrown = { error };
          throw new Error("Posthorn rolls this transaction back", { cause: error });
        }
      }, limits);
    } catch (error) {
      throw thrown ? thrown.error : openFailure(this.#client.orm, error);
    }
    // An ORM that swallows the error of its callback has nothing committed: it was told to roll back.
    if (thrown) throw thrown.error;
  }

  /** Until the transaction is over: a statement that is still on its way to the server cannot be cancelled yet. */
  async #cancel(backend: Backend, gate: OrmGate): Promise<void> {
    for (let tries = 0; tries < MOST_CANCELS && !gate.isOver; tries++) {
      await this.query(cancelStatement(backend), ANSWER_MS).catch(ignore);
      await systemClock.sleep(CANCEL_AGAIN_MS);
    }
  }

  #enter(raw: Tx, { signal }: TransactionLimits): Entered<Tx> {
    const gate = new OrmGate();
    const { tx, release } = this.#client.guard?.(raw, gate.judge) ?? { tx: raw };
    return {
      session: ormSession(this.#client, raw),
      guard: {
        tx,
        close: () => gate.close(),
        failure: () => undefined,
        refusal: () => gate.refusal,
        isLost: () => false,
        cancel: (backend) => {
          if (signal.aborted && backend) void this.#cancel(backend, gate);
        },
      },
      ...(this.#client.flush && { flush: () => this.#client.flush?.(raw) ?? Promise.resolve() }),
      ends(how) {
        if (how !== "over") release?.();
        gate.ends(how);
      },
    };
  }
}

/** What may pass to an ORM's connection: the handler's statements, then the end of the transaction by the ORM, then nothing. */
class OrmGate {
  readonly #gate = new Gate();
  #ending: Ending | undefined;
  readonly judge: Judge = Object.assign((text: string) => this.#judge(text), {
    owned: (method: string) => this.#gate.refuse(transactionOwned(method)),
  });

  get refusal(): PosthornError | undefined {
    return this.#gate.refusal;
  }

  get isOver(): boolean {
    return this.#ending === "over";
  }

  close(): void {
    this.#ending ??= "commit";
  }

  ends(how: Ending): void {
    this.#ending = how;
    if (how === "over") this.#gate.close();
  }

  #judge(text: string): void {
    // An ORM's subscribers may have statements before its commit; before its rollback, a handler past its deadline may.
    if (this.#ending === "commit") return;
    if (this.#ending === "rollback") {
      if (transactionCommand(text) === undefined) throw transactionFinished();
      return;
    }
    const refused = this.#gate.judge(text);
    if (refused !== undefined) throw refused;
  }
}

/** An open transaction of an ORM, or without one its pool. */
export function ormSession<Tx>(client: OrmClient<Tx>, tx: Tx | undefined): Session {
  return {
    async query({ text, params = [], script }: Statement): Promise<Answer> {
      const rows = await client.run({ text, params, script: script === true }, tx);
      return { rows: script ? [] : rows.map(rowOf), command: "" };
    },
  };
}

/** The session of a transaction that the host opened by its ORM; throws unless it is open. */
export function ormHostSession<Tx>(client: OrmClient<Tx>, tx: Tx): Session {
  const known = typeof tx === "function" || (typeof tx === "object" && tx !== null);
  if (known && client.isOpen(tx)) return ormSession(client, tx);
  throw new PosthornError<StoreErrorCode>(
    "store_transaction_required",
    `No open transaction of ${client.orm} was handed in, so that a rollback could not take the event back. ` +
      "Hand in what its callback gets, or publish without a transaction.",
  );
}

/** By the order of the columns: plug-ins of the host may have given them other names. */
function rowOf(row: unknown): Row {
  return Object.values(row as object).map((value: unknown): Value => {
    if (typeof value === "string" || value instanceof Uint8Array || value === null) return value;
    if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean")
      return String(value);
    throw new TypeError(`A column is ${typeof value}; expected text or bytes. Does the driver parse text?`);
  });
}

/** Cancels the statement that a transaction is running, and no later one. */
function cancelStatement({ pid, xid }: Backend): Statement {
  return {
    text: `
      select pg_cancel_backend(pid)::text as cancelled from pg_stat_activity
      where pid = $1::text::int4 and backend_xid::text = $2::text::xid8::xid::text and state = 'active'`,
    params: [pid, xid],
  };
}

function unanswered(): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_unavailable",
    "Postgres did not answer in time. The statement was given up; the next one may find it well.",
  );
}
