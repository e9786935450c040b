import { systemClock } from "../../../clock.js";
import { SqliteClient } from "./client.js";
import type { SqliteDatabase } from "./client.js";
import { DurabilityKeeper } from "./durability.js";
import { GroupCommit } from "./group-commit.js";

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
export function connectionOf(db: SqliteDatabase): Connection {
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
