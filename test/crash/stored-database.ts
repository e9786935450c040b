import { Pool } from "pg";
import type { OutboxDatabase } from "./outbox-database.js";
import { openPostgresOutboxDatabase } from "./postgres-outbox-reader.js";
import { createSqliteOutboxDatabase } from "./sqlite-outbox-database.js";

/** A row that a handler has written, in the order of writing. */
export interface AppliedRow {
  readonly consumer: string;
  readonly key: string;
  readonly place: number;
  readonly version: number;
}

/** The newest version of a key, as a consumer's handlers have left it. */
export type NewestRow = Omit<AppliedRow, "place">;

/** A database in which events are stored first, with the tables that the handlers write. */
export interface StoredDatabase extends Pick<
  OutboxDatabase,
  "name" | "options" | "pending" | "leases" | "close"
> {
  applied(): Promise<readonly AppliedRow[]>;
  newest(): Promise<readonly NewestRow[]>;
  /** Events that a consumer has given up. */
  dead(): Promise<number>;
}

// No unique key: an event that was applied twice must be two rows.
const tables = (number: string): string => `
  create table stream_applied (
    n ${number}, consumer text not null, key text not null, place int not null, version int not null
  );
  create table stream_newest (consumer text, key text, version int not null, primary key (consumer, key))`;
const APPLIED = "select consumer, key, place, version from stream_applied order by n";
const NEWEST = "select consumer, key, version from stream_newest";

/** A file of its own. */
export async function createSqliteStoredDatabase(): Promise<StoredDatabase> {
  const { db, ...outbox } = await createSqliteOutboxDatabase();
  db.exec(tables("integer primary key autoincrement"));
  const rows = (sql: string): Promise<never> => Promise.resolve(db.prepare(sql).all() as never);
  return {
    ...outbox,
    applied: () => rows(APPLIED),
    newest: () => rows(NEWEST),
    dead: () => Promise.resolve(Number(db.prepare("select count(*) from posthorn_dead").pluck().get())),
  };
}

/** A database that has Posthorn's tables, wherever it is. */
export async function openPostgresStoredDatabase(url: string): Promise<StoredDatabase> {
  const outbox = await openPostgresOutboxDatabase(url);
  const pool = new Pool({ connectionString: url, max: 1, application_name: "posthorn-crash-reader" });
  pool.on("error", () => undefined);
  await pool.query(tables("bigint generated always as identity"));
  const rows = async (sql: string): Promise<never> => (await pool.query(sql)).rows as never;
  return {
    ...outbox,
    applied: () => rows(APPLIED),
    newest: () => rows(NEWEST),
    dead: async () => {
      const { rows: counted } = await pool.query<{ n: number }>(
        "select count(*)::int as n from posthorn.dead",
      );
      return counted[0]?.n ?? 0;
    },
    close: async () => {
      await pool.end();
      await outbox.close();
    },
  };
}
