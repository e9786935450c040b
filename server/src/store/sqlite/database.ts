import type { Database } from "better-sqlite3";
import { PosthornError } from "posthorn";
import { registryFailure } from "../registry.js";

type Value = string | number | bigint | null | Uint8Array;

interface Statement {
  run(...values: Value[]): { readonly changes: number };
  all(...values: Value[]): unknown[];
}

type Work<T> = (run: (sql: string, ...values: Value[]) => number) => T;

// Commits do not wait for the disk; checkpoints do, so that the file stays consistent.
const NORMAL = 1;

/** Runs statements on the outbox's handle: prepared once, with one kind of error. */
export class RegistryDatabase {
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** Reads rows; the statement names their fields. */
  all<Row>(sql: string, ...values: Value[]): Promise<readonly Row[]> {
    return this.#settle(() => this.#statement(sql).all(...values) as Row[]);
  }

  /** Runs one statement and returns the number of changed rows. */
  run(sql: string, ...values: Value[]): Promise<number> {
    return this.transaction((run) => run(sql, ...values));
  }

  /** Runs several statements in one transaction, synchronously. */
  transaction<T>(work: Work<T>): Promise<T> {
    return this.#settle(() => this.#write(work));
  }

  /** As `transaction`, without waiting for the disk: a power failure may lose the rows. */
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
    // The outbox has a transaction open whose rollback failed: a write now would be lost with it.
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

  // SQLite refuses the pragma inside of a transaction, in which `#write` writes nothing.
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
