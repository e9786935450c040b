import { systemClock } from "../../../clock.js";
import type { StoreErrorCode } from "../../../store-errors.js";
import { PosthornError } from "../../../posthorn-error.js";
import { SqliteClient } from "./client.js";
import type { SqliteDatabase } from "./client.js";
import { DurabilityKeeper } from "./durability.js";
import { storeError } from "./failure.js";
import { GroupCommit } from "./group-commit.js";
import { realHandle } from "./guard.js";
import { checkWaitMs } from "./options.js";

/** What Posthorn keeps for one handle. */
export interface Connection {
  readonly client: SqliteClient;
  readonly durability: DurabilityKeeper;
  /** Groups of our own statements alone. */
  readonly statements: GroupCommit;
  /** Groups in which handlers run. Apart from the other, because a handler can end its group's transaction. */
  readonly handlers: GroupCommit;
}

// By handle: whoever makes a new sqliteDedup for every request still shares its transactions with the others.
const connections = new WeakMap<SqliteDatabase, Connection>();

/** The connection of a handle; throws `store_client_unsupported` unless it is one. */
export function connectionOf(handle: SqliteDatabase): Connection {
  const db = realHandle(handle);
  const known = connections.get(db);
  if (known !== undefined) return known;
  const client = new SqliteClient(db);
  const durability = new DurabilityKeeper(client);
  // Locks are held by other processes, whom no clock of a test can hurry.
  const parts = { client, durability, clock: systemClock, random: Math.random };
  const connection: Connection = {
    client,
    durability,
    statements: new GroupCommit({ ...parts, guarded: false }),
    handlers: new GroupCommit({ ...parts, guarded: true }),
  };
  connections.set(db, connection);
  return connection;
}

/** Reads. From inside of a group a reader would see its neighbours' rows before they are committed; a microtask later they are. */
export async function look<T>(client: SqliteClient, read: () => T): Promise<T> {
  await Promise.resolve();
  try {
    // An event whose handler's transaction is to be rolled back would be found, and answered as a duplicate.
    client.checkEnded();
    return read();
  } catch (error) {
    throw storeError(error);
  }
}

export interface WriteOptions {
  /** How long it may wait for the write lock. */
  readonly waitMs: number;
  /** Whether its throw undoes its neighbours' writes too; see `Part.undoesAll`. @default false */
  readonly undoesAll?: boolean;
}

/** Runs statements of our own in the next group, and resolves once they are committed. */
export async function write<T>(
  { statements }: Connection,
  { waitMs, undoesAll = false }: WriteOptions,
  run: () => T,
): Promise<T> {
  const expired = (): never => {
    throw new PosthornError<StoreErrorCode>(
      "store_unavailable",
      `Another connection held the write lock, or the host a transaction, for ${waitMs} ms. Retry, or raise waitMs.`,
    );
  };
  try {
    return await statements.join({ run, undoable: true, undoesAll, waitMs, expired });
  } catch (error) {
    throw storeError(error);
  }
}

/** One write of a function that belongs to no store, as people call it at the start of a process. */
export async function writeOnce<T>(
  db: SqliteDatabase,
  { name, waitMs }: { readonly name: string; readonly waitMs: number },
  run: (client: SqliteClient) => T,
): Promise<T> {
  checkWaitMs(name, waitMs);
  const connection = connectionOf(db);
  return write(connection, { waitMs }, () => run(connection.client));
}
