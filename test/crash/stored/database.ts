import { Pool } from "pg";
import type { OutboxDatabase } from "../outbox-database.js";
import { openPostgresOutboxDatabase } from "../postgres-outbox-reader.js";
import { createSqliteOutboxDatabase } from "../sqlite-outbox-database.js";

/** A row that a handler has written, in the order of writing. */
export interface AppliedRow {
  readonly consumer: string;
  readonly key: string;
  readonly place: number;
  readonly version: number;
  /** 1: the handler was told that it comes too late. */
  readonly late: number;
  /** What a step of a long handler has come to, as its end was told. */
  readonly effect: string | null;
}

/** The newest version of a key, as a consumer's handlers have left it. */
export type NewestRow = Pick<AppliedRow, "consumer" | "key" | "version">;

/** What a step of a long handler has done at the other side, in the order of doing. */
export interface StepRow {
  readonly key: string;
  readonly place: number;
  readonly step: string;
  readonly idem: string;
  readonly effect: string;
}

/** All that the handlers have written. */
export interface StreamRows {
  readonly applied: readonly AppliedRow[];
  readonly newest: readonly NewestRow[];
  readonly steps: readonly StepRow[];
}

/** A database in which events are stored first, with the tables that the handlers write. */
export interface StoredDatabase extends Pick<
  OutboxDatabase,
  "name" | "options" | "outbox" | "pending" | "leases" | "close"
> {
  rows(): Promise<StreamRows>;
  /** From now on no handler is broken. */
  mend(): Promise<void>;
  /** Events that a consumer has given up, and nobody has redriven. */
  dead(): Promise<number>;
  /** Writes an effect as a handler would have. */
  applyByHand(row: NewestRow & Pick<AppliedRow, "place">): Promise<void>;
  /** How many deliveries of a handler were cancelled because it was removed. */
  cancelled(handler: string): Promise<number>;
}

// No unique key: an event that was applied twice must be two rows.
const tables = (number: string): string => `
  create table stream_applied (
    n ${number}, consumer text not null, key text not null, place int not null, version int not null,
    late int not null, effect text
  );
  create table stream_step (
    n ${number}, key text not null, place int not null, step text not null, idem text not null, effect text not null
  );
  create index stream_step_idem on stream_step (idem);
  create table stream_mended (at int not null);
  create table stream_newest (consumer text, key text, version int not null, primary key (consumer, key))`;
const APPLIED = "select consumer, key, place, version, late, effect from stream_applied order by n";
const STEPS = "select key, place, step, idem, effect from stream_step order by n";
const MEND = "insert into stream_mended values (1)";
const DEAD = "select count(*) as n from";
const UNRESOLVED = "where resolved_at is null";
const NEWEST = "select consumer, key, version from stream_newest";
const BY_HAND = "insert into stream_applied (consumer, key, place, version, late) values";
const NEWEST_BY_HAND = (values: string): string =>
  `insert into stream_newest (consumer, key, version) values ${values}
   on conflict (consumer, key) do update set version = case
     when stream_newest.version > excluded.version then stream_newest.version else excluded.version end`;
const CANCELLED = (cancelled: string, consumer: string, id: string): string =>
  `select count(*) as n from ${cancelled} as gone join ${consumer} as handler on handler.id = gone.${id}
   where gone.because = 'consumer_removed' and handler.public_id =`;

/** A file of its own. */
export async function createSqliteStoredDatabase(): Promise<StoredDatabase> {
  const { db, ...outbox } = await createSqliteOutboxDatabase();
  db.exec(tables("integer primary key autoincrement"));
  const rows = (sql: string): Promise<never> => Promise.resolve(db.prepare(sql).all() as never);
  return {
    ...outbox,
    rows: async () => ({
      applied: await rows(APPLIED),
      newest: await rows(NEWEST),
      steps: await rows(STEPS),
    }),
    mend: () => Promise.resolve(void db.exec(MEND)),
    applyByHand: ({ consumer, key, place, version }) => {
      db.prepare(`${BY_HAND} (?, ?, ?, ?, 0)`).run(consumer, key, place, version);
      db.prepare(NEWEST_BY_HAND("(?, ?, ?)")).run(consumer, key, version);
      return Promise.resolve();
    },
    cancelled: (handler) => {
      const count = db.prepare(`${CANCELLED("posthorn_cancelled", "posthorn_consumer", "consumer")} ?`);
      return Promise.resolve(Number(count.pluck().get(handler)));
    },
    dead: () => Promise.resolve(Number(db.prepare(`${DEAD} posthorn_dead ${UNRESOLVED}`).pluck().get())),
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
    rows: async () => ({
      applied: await rows(APPLIED),
      newest: await rows(NEWEST),
      steps: await rows(STEPS),
    }),
    mend: async () => void (await pool.query(MEND)),
    dead: async () => {
      const { rows: counted } = await pool.query<{ n: string }>(`${DEAD} posthorn.dead ${UNRESOLVED}`);
      return Number(counted[0]?.n);
    },
    applyByHand: async ({ consumer, key, place, version }) => {
      await pool.query(`${BY_HAND} ($1, $2, $3, $4, 0)`, [consumer, key, place, version]);
      await pool.query(NEWEST_BY_HAND("($1, $2, $3)"), [consumer, key, version]);
    },
    cancelled: async (handler) => {
      const count = `${CANCELLED("posthorn.cancelled", "posthorn.consumer", "consumer_id")} $1`;
      return Number((await pool.query<{ n: string }>(count, [handler])).rows[0]?.n);
    },
    close: async () => {
      await pool.end();
      await outbox.close();
    },
  };
}
