import { reach } from "#faults";
import { BYTEA, bytesOfText } from "./bytea.js";
import type { PgClient, PgPool, PgPoolClient } from "./drivers.js";
import type {
  Answer,
  Pool,
  Row,
  Scope,
  Session,
  Statement,
  TransactionEnd,
  TransactionLimits,
  Work,
  WriteLimits,
} from "./database.js";
import { BEGIN_OPTIONS, terminateStatement } from "./database.js";
import { beforeAbort, ignore, within } from "./deadline.js";
import type { Guarded } from "./guard.js";
import { guardClient, isOutOfTransaction } from "./guard.js";
import type { Step } from "./pg-round-trip.js";
import { runTogether } from "./pg-round-trip.js";
import {
  closingFailure,
  isAnswerLost,
  proofOf,
  refusedHandler,
  saturated,
  sqlState,
  transactionAborted,
  transactionLeft,
} from "./failure.js";

// A prefix of this copy of the package: two copies that share a connection must not give one name to two statements.
const NAMES = `posthorn_${Math.random().toString(36).slice(2, 10)}_`;
const names = new Map<string, string>();

function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = NAMES + String(names.size);
  names.set(text, name);
  return name;
}

// For our queries alone: a host may have set other parsers for all of its own.
const TYPES = { getTypeParser: (typeId: number) => (typeId === BYTEA ? bytesOfText : asText) };

function asText(value: string): string {
  return value;
}

/** One connection of `pg`. */
export function pgSession(client: PgClient, prepare: boolean): Session {
  return {
    query({ text, params, prepared }: Statement): Promise<Answer> {
      const query: Parameters<PgClient["query"]>[0] = { text, rowMode: "array", types: TYPES };
      if (params !== undefined) query.values = params as unknown[];
      if (prepare && prepared === true) query.name = nameOf(text);
      return client.query(query).then(answerOf);
    },
  };
}

function answerOf(result: Awaited<ReturnType<PgClient["query"]>>): Answer {
  // Several statements have several results.
  const { rows, command } = Array.isArray(result) ? (result.at(-1) as typeof result) : result;
  return { rows: rows as unknown as Row[], command };
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
    const connection = await this.#acquire(acquireMs);
    const asked = pgSession(connection.client, this.#prepare).query(statement);
    try {
      const answer = await within(asked, ANSWER_MS);
      if (answer === undefined) throw new Error(`there was no answer within ${ANSWER_MS} ms`);
      connection.giveBack(false);
      return answer;
    } catch (error) {
      asked.catch(ignore);
      connection.giveBack(isAnswerLost(error));
      throw error;
    }
  }

  transaction<T>(first: Statement, work: Work<Tx, T>, limits: TransactionLimits): Promise<TransactionEnd<T>> {
    const { settings } = limits;
    const opening = settings === undefined ? [first] : [settings, first];
    return this.#transact<T>((transaction) => transaction.run(opening, work), limits);
  }

  write(statement: Statement, limits: WriteLimits): Promise<TransactionEnd<Answer>> {
    return this.#transact<Answer>((transaction) => transaction.write(limits.settings, statement), limits);
  }

  async #transact<T>(
    run: (transaction: PgTransaction<Tx, T>) => Promise<TransactionEnd<T>>,
    { acquireMs, signal }: TransactionLimits,
  ): Promise<TransactionEnd<T>> {
    const transaction = new PgTransaction<Tx, T>(await this.#acquire(acquireMs), this.#prepare);
    try {
      return await beforeAbort(run(transaction), signal);
    } catch (error) {
      if (signal.aborted) return transaction.cutOff(error);
      throw error;
    } finally {
      transaction.release();
      // Left alone, the server process would finish its statement, and hold the event's lock until then.
      if (signal.aborted && transaction.backend) await this.#terminate(transaction.backend);
    }
  }

  async #acquire(acquireMs: number): Promise<Connection> {
    const connecting = connectionFrom(this.#pool);
    let connection: Connection | undefined;
    try {
      connection = await within(connecting, acquireMs);
    } catch (error) {
      // The pool's own acquire timeout, `connectionTimeoutMillis`, was shorter than ours.
      if (error instanceof Error && error.message.startsWith("timeout exceeded")) throw saturated(acquireMs);
      throw error;
    }
    if (connection === undefined) {
      connecting.then((late) => late.giveBack(false), ignore);
      throw saturated(acquireMs);
    }
    return connection;
  }

  async #terminate(backend: NonNullable<Scope<Tx>["backend"]>): Promise<void> {
    const terminated = this.query(terminateStatement(backend), TERMINATE_MS);
    await within(terminated, TERMINATE_MS).catch(ignore);
    terminated.catch(ignore);
  }
}

const BEGIN: Statement = { text: `begin ${BEGIN_OPTIONS}`, params: [], prepared: true };
const COMMIT: Statement = { text: "commit", params: [], prepared: true };
const TERMINATE_MS = 1000;
// TCP notices a server that vanished silently, as after a failover, in a quarter of an hour: two look-ups that waited as
// long held up all others. Our own statements take milliseconds.
const ANSWER_MS = 5000;

type RolledBack = Extract<TransactionEnd<never>, { kind: "rolled_back" }>;

/** One transaction on a connection of the pool. */
class PgTransaction<Tx, T> {
  readonly #connection: Connection;
  readonly #prepare: boolean;
  readonly #guard: Guarded<PgPoolClient>;
  readonly #scope: Scope<Tx>;
  #begun = false;
  #committing = false;
  #namesCommit = false;
  // A connection is destroyed unless it proved whole: in an unknown state it must not serve the next transaction.
  #whole = false;

  constructor(connection: Connection, prepare: boolean) {
    this.#connection = connection;
    this.#prepare = prepare;
    this.#guard = guardClient(connection.client);
    this.#scope = { ...pgSession(connection.client, prepare), tx: this.#guard.tx as Tx, backend: undefined };
  }

  get backend(): Scope<Tx>["backend"] {
    return this.#scope.backend;
  }

  /** Runs the transaction to its end; throws only when it could not begin. `work` gets the answer to the last opening statement. */
  async run(opening: readonly Statement[], work: Work<Tx, T>): Promise<TransactionEnd<T>> {
    let value: T;
    try {
      const answer = await this.#begin(opening);
      value = await work(this.#scope, answer);
      this.#guard.close();
      const refusal = this.#guard.refusal();
      if (refusal !== undefined) throw refusal;
      // Outside of its transaction, our commit would succeed without committing anything.
      if (isOutOfTransaction(this.#connection.client)) throw transactionLeft();
    } catch (error) {
      if (!this.#begun && isAnswerLost(error)) throw error;
      return this.#rollBack(refusedHandler(this.#guard.refusal(), { error }));
    }
    // A connection that was lost before the commit was sent has rolled back; after that, the outcome is unknown.
    const lost = this.#loss();
    return lost === undefined ? this.#commit(value) : { kind: "rolled_back", error: lost };
  }

  /** Runs one statement and commits it, in one message where possible; throws only when nothing was sent. */
  async write(settings: Statement, statement: Statement): Promise<TransactionEnd<Answer>> {
    const together = this.#together([BEGIN, settings, statement, COMMIT], () => {
      this.#committing = true;
    });
    if (together !== undefined) return this.#written(together);
    // Prepares the commit too, so that the next write on this connection can send all of it in one message.
    this.#namesCommit = true;
    const end = this.run([settings, statement], (_scope, answer) => Promise.resolve(answer as T));
    return end as Promise<TransactionEnd<Answer>>;
  }

  async #written(whole: Promise<readonly Answer[]>): Promise<TransactionEnd<Answer>> {
    try {
      const [answer, commit] = (await whole).slice(-2) as [Answer, Answer];
      return this.#answered(commit, answer);
    } catch (error) {
      if (!isAnswerLost(error)) return this.#rollBack(error);
      if (!this.#committing) throw error;
      return { kind: "unknown", error };
    }
  }

  async #begin(opening: readonly Statement[]): Promise<Answer> {
    const together = this.#together([BEGIN, ...opening]);
    const answer = await (together?.then(lastOf) ?? this.#beginApart(opening));
    this.#begun = true;
    return answer;
  }

  /** Prepared statements in one round trip; undefined where that is not possible. */
  #together(statements: readonly Statement[], onSent?: () => void): Promise<readonly Answer[]> | undefined {
    if (!this.#prepare) return undefined;
    const steps: Step[] = [];
    for (const { text, params, prepared } of statements) {
      if (prepared !== true || params === undefined) return undefined;
      steps.push({ name: nameOf(text), params });
    }
    return runTogether(this.#connection.client, steps, onSent);
  }

  /** In a round trip each: the first transactions of a connection prepare the statements that later ones send together. */
  async #beginApart(opening: readonly Statement[]): Promise<Answer> {
    const named = this.#prepare && opening.every(({ params, prepared }) => prepared === true && params);
    if (named) await this.#scope.query(BEGIN);
    else await this.#say(BEGIN.text);
    let answer: Answer | undefined;
    for (const statement of opening) answer = await this.#scope.query(statement);
    return answer as Answer;
  }

  async #commit(value: T): Promise<TransactionEnd<T>> {
    this.#committing = true;
    try {
      return this.#answered(await this.#close(), value);
    } catch (error) {
      if (isAnswerLost(error)) return { kind: "unknown", error };
      return this.#rollBack(closingFailure(error, this.#guard.failure()));
    }
  }

  /** What the answer to the commit says. */
  #answered<V>({ command }: { readonly command: string }, value: V): TransactionEnd<V> {
    this.#whole = true;
    if (command === "COMMIT") return { kind: "committed", value };
    return { kind: "rolled_back", error: transactionAborted(this.#guard.failure()) };
  }

  async #close(): Promise<{ readonly command: string }> {
    const { backend } = this.#scope;
    // In the message of the commit, so that the proof costs no round trip.
    const closing = this.#scope.closing ?? (backend && proofOf(backend));
    if (closing !== undefined) {
      const together = this.#together([closing, COMMIT]);
      if (together) {
        const answers = await together;
        this.#scope.onClosed?.(answers.at(-2) as Answer);
        return lastOf(answers);
      }
      const answer = await this.#scope.query(closing);
      this.#scope.onClosed?.(answer);
    }
    const named = this.#prepare && (closing !== undefined || this.#namesCommit);
    return named ? this.#scope.query(COMMIT) : this.#say("commit");
  }

  async #rollBack(error: unknown): Promise<RolledBack> {
    this.#guard.close();
    reach("accept.before_rollback");
    try {
      if (this.#loss() === undefined) {
        await this.#say("rollback");
        this.#whole = true;
      }
    } catch {
      // The connection is gone, and the transaction with it.
    }
    return { kind: "rolled_back", error };
  }

  /** A command without rows. As plain text: the driver copies an object of options property by property. */
  #say(text: string): Promise<{ readonly command: string }> {
    return this.#connection.client.query(text);
  }

  /** The end of a transaction whose deadline has passed: destroying the connection ends whatever still runs. */
  cutOff(error: unknown): TransactionEnd<T> {
    this.#whole = false;
    return { kind: this.#committing ? "unknown" : "rolled_back", error };
  }

  release(): void {
    this.#guard.close();
    this.#connection.giveBack(!this.#whole);
  }

  /**
   * Why the connection is broken, if it is: it emitted an error, or the server told a statement of the handler that it is
   * closing the connection. An error without a code never reached the server, as of a parameter that cannot be
   * written, or comes with the event of a lost connection.
   */
  #loss(): unknown {
    const failure = this.#guard.failure();
    const told = sqlState(failure) !== undefined && isAnswerLost(failure);
    return this.#connection.lost() ?? (told ? failure : undefined);
  }
}

function lastOf(answers: readonly Answer[]): Answer {
  return answers.at(-1) as Answer;
}

/** A connection of the pool. */
interface Connection {
  readonly client: PgPoolClient;
  /** Why the connection is broken, if it is. */
  lost(): Error | undefined;
  giveBack(destroy: boolean): void;
}

/**
 * By callback, because the pool removes its own listener before it hands a connection over. A server that ends a new
 * session at once sends its greeting and the error in one packet: pg emits the error before any promise continues.
 */
function connectionFrom(pool: PgPool<PgPoolClient>): Promise<Connection> {
  return new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (client === undefined) reject(error ?? new Error("the pool gave neither a connection nor an error"));
      else resolve(connectionOf(client));
    });
  });
}

function connectionOf(client: PgPoolClient): Connection {
  let lost: Error | undefined;
  // A connection that breaks while no statement runs emits this event; without a listener it ends the process.
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
