import { BYTEA, bytesOfText } from "./bytea.js";
import { cancelQuery } from "./cancel.js";
import type { PostgresQuery, PostgresSql, PostgresTransaction } from "./drivers.js";
import type {
  Answer,
  Pool,
  Row,
  Session,
  Statement,
  TransactionEnd,
  TransactionLimits,
  Value,
  Work,
  WriteLimits,
} from "./database.js";
import { BEGIN_OPTIONS, terminateStatement } from "./database.js";
import { CallbackTransactions, ROLLBACK_MS } from "./callback-transaction.js";
import { ignore, within } from "./deadline.js";
import type { Guarded } from "./guard.js";
import { guardSql } from "./guard.js";
import { saturated } from "./failure.js";

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

/** The `sql` of `postgres`. */
export class PostgresDriver<Tx> implements Pool<Tx> {
  readonly #sql: PostgresSql<PostgresTransaction>;
  readonly #prepare: boolean;
  readonly #transactions: CallbackTransactions<PostgresTransaction, Tx>;

  constructor(sql: PostgresSql<PostgresTransaction>, prepare: boolean) {
    this.#sql = sql;
    this.#prepare = prepare;
    this.#transactions = new CallbackTransactions<PostgresTransaction, Tx>({
      pipelines: true,
      begin: (work) => sql.begin(BEGIN_OPTIONS, work),
      enter: (raw) => ({
        session: postgresSession(raw, prepare),
        guard: guardSql(raw) as unknown as Guarded<Tx>,
      }),
      terminate: (backend) => {
        this.query(terminateStatement(backend), ROLLBACK_MS).catch(ignore);
      },
    });
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

  transaction<T>(first: Statement, work: Work<Tx, T>, limits: TransactionLimits): Promise<TransactionEnd<T>> {
    return this.#transactions.run(first, work, limits);
  }

  write(statement: Statement, limits: WriteLimits): Promise<TransactionEnd<Answer>> {
    return this.#transactions.write(statement, limits);
  }
}
