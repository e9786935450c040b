import type Database from "better-sqlite3";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { createDatabaseFile } from "../sqlite/database-file.js";
import type { OutboxDatabase, OutboxRows } from "./outbox-database.js";
import { BUSINESS_TABLE } from "./outbox-database.js";

export interface SqliteOutboxDatabase extends OutboxDatabase {
  readonly db: Database.Database;
}

/** A file of its own, with the tables of Posthorn and the publisher. */
export async function createSqliteOutboxDatabase(): Promise<SqliteOutboxDatabase> {
  const file = createDatabaseFile();
  return openSqliteOutboxDatabase(file.open(), () => file.remove());
}

/** The same in a file that is there already. */
export async function openSqliteOutboxDatabase(
  db: Database.Database,
  close: () => void,
): Promise<SqliteOutboxDatabase> {
  await migrate(db);
  db.exec(BUSINESS_TABLE);
  const rows = (sql: string): never => db.prepare(sql).all() as never;
  const outbox = sqliteStore({ db });
  const pending = db.prepare(PENDING).pluck();
  const leases = db.prepare(LEASES).raw();
  return {
    name: "sqlite",
    options: { store: "sqlite", database: db.name },
    db,
    outbox,
    // One transaction: a worker that is still at it must not be seen at two moments.
    read: () => Promise.resolve(db.transaction(() => readRows(rows))()),
    pending: () => Promise.resolve(Number(pending.get())),
    leases: () => Promise.resolve(new Map(leases.all() as [string, number][])),
    close: () => Promise.resolve(close()),
  };
}

const PENDING = `
  select (select coalesce(sum(next_seq - head_seq), 0) from posthorn_lane where state = 'flowing')
    + (select count(*) from posthorn_loose_delivery where ready_at is not null)
    + (select count(*) from posthorn_later) + (select count(*) from posthorn_stage)
    + (select count(*) from posthorn_held)`;

const LEASES = "select leased_by, count(*) from posthorn_lane where leased_by is not null group by leased_by";

function readRows(rows: (sql: string) => never): OutboxRows {
  return {
    events: rows("select id as n, public_id as wireId, body from posthorn_event"),
    endpoints: rows("select id as n, public_id as id from posthorn_consumer"),
    lanes: rows(
      `select id as n, consumer as endpoint, key, cast(generation as text) as generation, cast(head_seq as text) as head, state
       from posthorn_lane`,
    ),
    deliveries: rows("select lane, cast(seq as text) as seq, event, round from posthorn_delivery"),
    loose: rows("select id as n, consumer as endpoint, event, round from posthorn_loose_delivery"),
    attempts: rows(
      `select lane, cast(seq as text) as seq, event, round, no, outcome, started_at as startedAt,
         duration_ms as durationMs from posthorn_attempt`,
    ),
    ended: rows(
      `select lane, cast(seq as text) as seq, event, round, consumer as endpoint,
         iif(resolved_how = 'redriven', 'redriven', 'dead') as state, because from posthorn_dead
       union all
       select lane, cast(seq as text), event, round, consumer, 'cancelled', because from posthorn_cancelled`,
    ),
    business: rows("select ref from business"),
  };
}
