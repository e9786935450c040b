import type { StoreErrorCode } from "../../../store-errors.js";
import { PosthornError } from "../../../posthorn-error.js";
import { refusalOf } from "./failure.js";

/** What we give to a statement. */
export type SqliteValue = string | number | bigint | null | Uint8Array;

/**
 * A handle of better-sqlite3 (`Database`) or node:sqlite (`DatabaseSync`). It is typed by what it can do and
 * never imported: the host's version of the driver is the one that runs, and Node 20 has no node:sqlite.
 */
export interface SqliteDatabase {
  // Parameters of type never: TypeScript 5.7 sees in better-sqlite3's `prepare` a union of statements, of which some
  // take no null, and would refuse the handle.
  prepare(sql: string): {
    run(...values: never[]): unknown;
    get(...values: never[]): unknown;
    all(...values: never[]): unknown;
  };
  exec(sql: string): unknown;
  /** better-sqlite3's word for an open transaction. */
  readonly inTransaction?: boolean;
  /** node:sqlite's word for it. */
  readonly isTransaction?: boolean;
}

/** What we use of a statement, the same in both drivers. */
interface Statement {
  run(...values: SqliteValue[]): {
    readonly changes: number | bigint;
    readonly lastInsertRowid: number | bigint;
  };
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
}

/** What the two drivers call differently, or only one of them has. */
interface DriverStatement extends Statement {
  safeIntegers?(on: boolean): unknown;
  setReadBigInts?(on: boolean): unknown;
  setReturnArrays?(on: boolean): unknown;
  /** better-sqlite3's word for rows as arrays; it throws for a statement that returns no rows. */
  raw?(on: boolean): unknown;
}

// What others write on the handle until the rollback is done is lost with it.
const ROLL_BACK_AGAIN_MS = 20;

/** One handle, with its statements prepared once. Knows nothing of what is stored. */
export class SqliteClient {
  readonly db: SqliteDatabase;
  readonly #statements = new Map<string, Statement>();
  readonly #wideStatements = new Map<string, Statement>();
  readonly #arrayStatements = new Map<string, Statement>();
  // The host's own wait for locks, while another is set.
  #hostWaitMs: number | undefined;
  #stretch = 0;
  #rollbackRefused = false;
  #rollbackPlanned = false;

  constructor(db: SqliteDatabase) {
    checkHandle(db);
    this.db = db;
  }

  get inTransaction(): boolean {
    return (this.db.inTransaction ?? this.db.isTransaction) === true;
  }

  /** Whether a transaction of ours is open that could not be rolled back: what is in it never was there. */
  get unended(): boolean {
    return this.#rollbackRefused && this.inTransaction;
  }

  exec(sql: string): void {
    this.db.exec(sql);
  }

  /**
   * Ends whatever transaction is open. False where that is refused, because the host left a query open on the handle; then
   * it is tried again until it is done: the next call of ours may never come.
   */
  rollBack(): boolean {
    try {
      if (this.inTransaction) this.exec("rollback");
      this.#rollbackRefused = false;
    } catch (error) {
      // A closed handle has no transaction.
      this.#rollbackRefused = refusalOf(error) !== "closed";
      if (this.#rollbackRefused) this.#planRollBack();
    }
    return !this.#rollbackRefused;
  }

  /** Throws while a transaction is open that is to be rolled back: the host would take what it does in there for its own. */
  checkEnded(): void {
    if (!this.unended || this.rollBack()) return;
    throw new PosthornError<StoreErrorCode>(
      "store_unavailable",
      "A handler left an iterator open on the handle, and its transaction cannot be rolled back before that is closed. " +
        "Close it, or read with `all()`.",
    );
  }

  #planRollBack(): void {
    if (this.#rollbackPlanned) return;
    this.#rollbackPlanned = true;
    const timer: { unref?: () => void } | number = setTimeout(() => {
      this.#rollbackPlanned = false;
      if (this.#rollbackRefused) this.rollBack();
    }, ROLL_BACK_AGAIN_MS);
    // The end of a process ends its transactions, and it is not kept alive for one.
    if (typeof timer === "object") timer.unref?.();
  }

  /** Stays the same number while nothing was written on the handle but by writes that share what they have read. */
  get stretch(): number {
    return this.#stretch;
  }

  /** Call it when a transaction has begun, and after every part of it that shares nothing with the others. */
  endStretch(): void {
    this.#stretch++;
  }

  /** Runs a statement and returns how many rows it changed. */
  run(sql: string, ...values: SqliteValue[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  /** Inserts one row and returns its number. For `returning`, SQLite copies every page that the statement touches. */
  insert(sql: string, ...values: SqliteValue[]): bigint {
    return BigInt(this.#wide(sql).run(...values).lastInsertRowid);
  }

  /** The first row, whose type its caller knows; undefined where there is none. */
  get(sql: string, ...values: SqliteValue[]): unknown {
    return this.#statement(sql).get(...values) ?? undefined;
  }

  all(sql: string, ...values: SqliteValue[]): unknown[] {
    return this.#statement(sql).all(...values);
  }

  /** As `get`, with every integer as a bigint: a number would silently round a sequence above 2^53. */
  getWide(sql: string, ...values: SqliteValue[]): unknown {
    return this.#wide(sql).get(...values) ?? undefined;
  }

  allWide(sql: string, ...values: SqliteValue[]): unknown[] {
    return this.#wide(sql).all(...values);
  }

  /** As `allWide`, each row as an array of its columns. An object of twenty columns costs a driver twice as much, and a reader four times. */
  arraysWide(sql: string, ...values: SqliteValue[]): unknown[] {
    return this.#arrays(sql).all(...values);
  }

  /** Reads or changes a setting. Never by a kept statement: SQLite reads many settings when it prepares, and a kept one would answer with the past. */
  pragma(text: string): unknown {
    return Object.values(prepare(this.db, `pragma ${text}`, { wide: false, arrays: false }).get() ?? {})[0];
  }

  /**
   * A setting that is a number, as it is now, under the name of its column. By a kept statement: one that is prepared for
   * each group is an object that the collector has to hand back to SQLite, which was a third of its time.
   */
  setting(name: string, column: string): number {
    const row = this.get(`select ${column} as value from pragma_${name}`) as { value: number };
    return row.value;
  }

  /** Runs with another wait for locks than the host's, and gives the handle its own back. SQLite sleeps on the thread of the event loop. */
  withLockWait<T>(waitMs: number, run: () => T): T {
    this.#hostWaitMs ??= this.setting("busy_timeout", "timeout");
    this.exec(`pragma busy_timeout = ${waitMs}`);
    try {
      return run();
    } finally {
      this.#giveWaitBack();
    }
  }

  #giveWaitBack(): void {
    try {
      this.exec(`pragma busy_timeout = ${this.#hostWaitMs ?? 0}`);
      this.#hostWaitMs = undefined;
    } catch {
      // Refused while a handler's query is still open; the next call gives it back. A throw here would hide that
      // what ran is committed, and it would be run again.
    }
  }

  #statement(sql: string): Statement {
    return this.#kept(this.#statements, sql, { wide: false, arrays: false });
  }

  #wide(sql: string): Statement {
    return this.#kept(this.#wideStatements, sql, { wide: true, arrays: false });
  }

  #arrays(sql: string): Statement {
    return this.#kept(this.#arrayStatements, sql, { wide: true, arrays: true });
  }

  // A map for each way to read, though of the same text: a statement reads its rows in one way for all its callers.
  #kept(statements: Map<string, Statement>, sql: string, reading: Reading): Statement {
    const kept = statements.get(sql);
    if (kept !== undefined) return kept;
    const prepared = prepare(this.db, sql, reading);
    statements.set(sql, prepared);
    return prepared;
  }
}

/** How a statement hands out its rows. */
interface Reading {
  /** Every integer as a bigint. */
  readonly wide: boolean;
  /** Each row as an array. */
  readonly arrays: boolean;
}

/** The bytes of a blob, as the plain array that both drivers can agree on; better-sqlite3 gives a `Buffer`. */
export function plainBytes(blob: Uint8Array): Uint8Array {
  return new Uint8Array(blob.buffer, blob.byteOffset, blob.byteLength);
}

const EMPTY = new Uint8Array(1).subarray(1);

/** Bytes as every driver stores them: node:sqlite of Node 22 writes null for an empty array that has no memory, as a text encoder makes it. */
export function storableBytes(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === 0 ? EMPTY : bytes;
}

// A host may have set its handle to big integers or to arrays for statements of its own; ours say what they want.
function prepare(db: SqliteDatabase, sql: string, { wide, arrays }: Reading): Statement {
  const statement = db.prepare(sql) as DriverStatement;
  statement.safeIntegers?.(wide);
  statement.setReadBigInts?.(wide);
  statement.setReturnArrays?.(arrays);
  if (arrays) statement.raw?.(true);
  return statement;
}

function checkHandle(db: SqliteDatabase): void {
  const handle = db as unknown as Readonly<Record<string, unknown>> | null | undefined;
  if (typeof handle?.["prepare"] !== "function" || typeof handle["exec"] !== "function") {
    throw unsupported(
      `${describe(handle)} was handed in. If an ORM wraps the handle, hand in the handle itself`,
    );
  }
  if (typeof handle["inTransaction"] !== "boolean" && typeof handle["isTransaction"] !== "boolean") {
    throw unsupported(
      "the handle does not say whether a transaction is open. node:sqlite does from Node 22.16 on; the package sqlite3 cannot",
    );
  }
  if (handle["readonly"] === true) {
    throw unsupported("the handle is read-only, and every event is written. Open it without `readonly`");
  }
}

function describe(handle: unknown): string {
  if (typeof handle !== "object" || handle === null) return String(handle);
  return `an object of class ${handle.constructor?.name ?? "null"}`;
}

function unsupported(found: string): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_client_unsupported",
    `\`db\` must be an open handle of better-sqlite3 or node:sqlite: ${found}.`,
  );
}
