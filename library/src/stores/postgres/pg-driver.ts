import type { PgClient, PgPool, PgPoolClient } from "./client.js";
import type {
  Answer,
  Pool,
  Row,
  Scope,
  Session,
  Statement,
  TransactionEnd,
  TransactionLimits,
} from "./database.js";
import { BEGIN_OPTIONS, terminateStatement } from "./database.js";
import { beforeAbort, ignore, within } from "./deadline.js";
import type { Guarded } from "./guard.js";
import { guardClient } from "./guard.js";
import { isAnswerLost, saturated, transactionAborted, transactionFinished } from "./sqlstate.js";

// Two copies of the package may share a connection, where one name must not mean two statements.
const NAMES = `posthorn_${Math.random().toString(36).slice(2, 10)}_`;
const names = new Map<string, string>();

function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = NAMES + String(names.size);
  names.set(text, name);
  return name;
}

/** One connection of `pg`. */
export function pgSession(client: PgClient, prepare: boolean): Session {
  return {
    async query({ text, params, prepared }: Statement): Promise<Answer> {
      const result = await client.query({
        text,
        rowMode: "array",
        ...(params === undefined ? {} : { values: [...params] }),
        ...(prepare && prepared === true ? { name: nameOf(text) } : {}),
      });
      // Several statements have several results.
      const { rows, command } = Array.isArray(result) ? (result.at(-1) as typeof result) : result;
      return { rows: rows as unknown as Row[], command };
    },
  };
}

/** A Pool of `pg`. */
export class PgDriver<Tx> implements Pool<Tx> {
  readonly #pool: PgPool<PgPoolClient>;
  readonly #prepare: boolean;

  constructor(pool: PgPool<PgPoolClient>, prepare: boolean) {
    this.#pool = pool;
    this.#prepare = prepare;
  }

  async query(statement: Statement, acquireMs: number): Promise<Answer> {
    const lease = await this.#acquire(acquireMs);
    try {
      const answer = await pgSession(lease.client, this.#prepare).query(statement);
      lease.giveBack(false);
      return answer;
    } catch (error) {
      lease.giveBack(isAnswerLost(error));
      throw error;
    }
  }

  async transaction<T>(
    work: (scope: Scope<Tx>) => Promise<T>,
    { acquireMs, signal }: TransactionLimits,
  ): Promise<TransactionEnd<T>> {
    const lease = await this.#acquire(acquireMs);
    const { client } = lease;
    const guard = guardClient(client);
    const session = pgSession(client, this.#prepare);
    const parts = { guard, session, lease, signal };
    const scope: Scope<Tx> = { ...session, tx: guard.tx as Tx, backend: undefined };
    // Destroyed unless it proves whole: a connection in an unknown state must not go to the next one.
    let whole = false;
    try {
      await beforeAbort(session.query({ text: `begin ${BEGIN_OPTIONS}` }), signal);
      const end = await this.#run(beforeAbort(work(scope), signal), parts);
      whole = end.kind === "committed" || (end.kind === "rolled_back" && (await isIdle(parts)));
      return end;
    } finally {
      guard.close();
      lease.giveBack(!whole);
      // The backend would finish its statement, and hold the event's lock as long.
      if (signal.aborted && scope.backend) await this.#terminate(scope.backend);
    }
  }

  async #run<T>(working: Promise<T>, parts: Parts): Promise<TransactionEnd<T>> {
    const { guard, lease } = parts;
    try {
      const value = await working;
      guard.close();
      // Known before the commit is sent, a lost connection has rolled back; after it, nobody could tell.
      const lost = lossOf(parts);
      if (lost !== undefined) return { kind: "rolled_back", error: lost };
      // The handler may have said COMMIT or ROLLBACK itself; ours would then succeed without meaning anything.
      if (statusOf(lease.client) === "I") throw transactionFinished();
      return await this.#commit(value, parts);
    } catch (error) {
      guard.close();
      return { kind: "rolled_back", error };
    }
  }

  async #commit<T>(value: T, { guard, session, signal }: Parts): Promise<TransactionEnd<T>> {
    try {
      const { command } = await beforeAbort(session.query({ text: "commit" }), signal);
      if (command === "COMMIT") return { kind: "committed", value };
    } catch (error) {
      return isAnswerLost(error) ? { kind: "unknown", error } : { kind: "rolled_back", error };
    }
    return { kind: "rolled_back", error: transactionAborted(guard.failure()) };
  }

  async #acquire(acquireMs: number): Promise<Lease> {
    const connecting = this.#pool.connect();
    let client: PgPoolClient | undefined;
    try {
      client = await within(connecting, acquireMs);
    } catch (error) {
      // The pool's own patience, `connectionTimeoutMillis`, was shorter than ours.
      if (error instanceof Error && error.message.startsWith("timeout exceeded")) throw saturated(acquireMs);
      throw error;
    }
    if (client === undefined) {
      connecting.then((late) => late.release(), ignore);
      throw saturated(acquireMs);
    }
    return leaseOf(client);
  }

  async #terminate(backend: NonNullable<Scope<Tx>["backend"]>): Promise<void> {
    const terminated = this.query(terminateStatement(backend), TERMINATE_MS);
    await within(terminated, TERMINATE_MS).catch(ignore);
    terminated.catch(ignore);
  }
}

const TERMINATE_MS = 1000;

interface Parts {
  readonly guard: Guarded<unknown>;
  readonly session: Session;
  readonly lease: Lease;
  readonly signal: AbortSignal;
}

/** A connection out of the pool. */
interface Lease {
  readonly client: PgPoolClient;
  /** Why the connection is broken, if it is. */
  lost(): Error | undefined;
  giveBack(destroy: boolean): void;
}

function leaseOf(client: PgPoolClient): Lease {
  let lost: Error | undefined;
  // A connection that breaks while no statement runs tells it by this event, which without a listener ends the process.
  const listener = (error: Error): void => {
    lost = error;
  };
  client.on("error", listener);
  return {
    client,
    lost: () => lost,
    giveBack(destroy) {
      client.removeListener("error", listener);
      client.release(destroy);
    },
  };
}

/** Rolls back what is left of a transaction; false when the connection did not answer to it. */
async function isIdle(parts: Parts): Promise<boolean> {
  const { session, lease, signal } = parts;
  if (signal.aborted || lossOf(parts) !== undefined) return false;
  if (statusOf(lease.client) === "I") return true;
  const rolledBack = beforeAbort(session.query({ text: "rollback" }), signal);
  return rolledBack.then(
    () => true,
    () => false,
  );
}

/** Why the connection is broken, if it is: it said so, or a statement of the handler got no answer. */
function lossOf({ lease, guard }: Parts): unknown {
  const failure = guard.failure();
  return lease.lost() ?? (failure !== undefined && isAnswerLost(failure) ? failure : undefined);
}

function statusOf(client: PgClient): unknown {
  // Older versions of pg do not have it; there, only the commit's tag speaks.
  return (client as { getTransactionStatus?: () => unknown }).getTransactionStatus?.();
}
