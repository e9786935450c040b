import type { Database } from "better-sqlite3";
import { PosthornError } from "posthorn";
import { registryFailure } from "../registry.js";

type Value = string | number | bigint | null | Uint8Array;

interface Statement {
  run(...values: Value[]): { readonly changes: number };
  all(...values: Value[]): unknown[];
}

type Work<T> = (run: (sql: string, ...values: Value[]) => number) => T;

// Commits do not wait for the disk; checkpoints do, so that the file stays whole.
const NORMAL = 1;

/** The handle that the outbox uses too, with statements that are prepared once and one kind of error. */
export class RegistryDatabase {
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** Rows as the statement names them. */
  all<Row>(sql: string, ...values: Value[]): Promise<readonly Row[]> {
    return this.#settle(() => this.#statement(sql).all(...values) as Row[]);
  }

  /** Runs one statement, and says how many rows it changed. */
  run(sql: string, ...values: Value[]): Promise<number> {
    return this.transaction((run) => run(sql, ...values));
  }

  /** Runs several in one transaction, without awaiting in between. */
  transaction<T>(work: Work<T>): Promise<T> {
    return this.#settle(() => this.#write(work));
  }

  /** As `transaction`, for what may be lost when the power fails: nobody waits for the disk. */
  unsynced<T>(work: Work<T>): Promise<T> {
    return this.#settle(() => {
      const level = Number(this.#db.pragma("synchronous", { simple: true }));
      this.#setLevel(Math.min(level, NORMAL));
      try {
        return this.#write(work);
      } finally {
        this.#setLevel(level);
      }
    });
  }

  #write<T>(work: Work<T>): T {
    // A group of the outbox whose rollback was refused: what is written now would vanish with it.
    if (this.#db.inTransaction) {
      throw new PosthornError(
        "store_unavailable",
        "A transaction of another caller is still open. Try again.",
      );
    }
    return this.#db
      .transaction(() => work((sql, ...values) => this.#statement(sql).run(...values).changes))
      .immediate();
  }

  // SQLite refuses it inside of a transaction, where nothing is written anyway.
  #setLevel(level: number): void {
    if (!this.#db.inTransaction) this.#db.pragma(`synchronous = ${level}`);
  }

  #statement(sql: string): Statement {
    const kept = this.#statements.get(sql);
    if (kept !== undefined) return kept;
    const prepared = this.#db.prepare<Value[]>(sql);
    this.#statements.set(sql, prepared);
    return prepared;
  }

  #settle<T>(work: () => T): Promise<T> {
    try {
      return Promise.resolve(work());
    } catch (error) {
      return Promise.reject(registryFailure(error, (cause) => /no such table/.test(String(cause))));
    }
  }
}
