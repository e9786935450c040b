import type { Database } from "better-sqlite3";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { createFakeClock } from "posthorn/testing";
import type { CancelledRecord, OutboxBench, OutboxHarness } from "posthorn/testing";
import { createDatabaseFile } from "./database-file.js";

/** Two handles on one file stand for two processes: to SQLite they are. A third belongs to the host's transactions. */
export const sqliteOutboxHarness: OutboxHarness<Database> = {
  capabilities: {
    sharesHostTransaction: true,
    survivesPowerLoss: true,
    multiProcess: true,
    clock: "process",
  },
  transactions: "synchronous",
  exactTime: true,
  listsCancelled: true,
  refusesPlaces: true,
  open: () => openBench(1n),
  openAt: openBench,
};

async function openBench(firstEvent: bigint): Promise<OutboxBench<Database>> {
  const file = createDatabaseFile();
  const clock = createFakeClock();
  const host = file.open();
  await migrate(host);
  host
    .prepare("insert into sqlite_sequence (name, seq) values (?, ?)")
    .run("posthorn_event", firstEvent - 1n);
  return {
    outboxes: [sqliteStore({ db: file.open(), clock }), sqliteStore({ db: file.open(), clock })],
    time: { tickS: 3600, pass: (ms) => clock.advance(ms) },
    transaction: async (work) => runInTransaction(host, work),
    cancelled: () => Promise.resolve(cancelledIn(host)),
    refusePlaces: (prefix) => Promise.resolve(refusePlaces(host, prefix)),
    close: () => Promise.resolve(file.remove()),
  };
}

function runInTransaction<T>(host: Database, work: (tx: Database) => Promise<T> | T): Promise<T> | T {
  host.exec("begin immediate");
  try {
    const result = work(host);
    host.exec("commit");
    return result;
  } catch (error) {
    host.exec("rollback");
    throw error;
  }
}

function refusePlaces(db: Database, prefix: string): () => Promise<void> {
  db.exec(`
    create trigger refuse_places before insert on posthorn_delivery
    when (select public_id from posthorn_event where id = new.event) like '${prefix}%'
    begin select raise(abort, 'refused by the test'); end`);
  return () => Promise.resolve(void db.exec("drop trigger refuse_places"));
}

function cancelledIn(db: Database): CancelledRecord[] {
  const rows = db.prepare(
    `select p.public_id as endpointId, e.public_id as eventId, c.because from posthorn_cancelled c
     join posthorn_event e on e.id = c.event join posthorn_consumer p on p.id = c.consumer`,
  );
  return rows.all() as CancelledRecord[];
}
