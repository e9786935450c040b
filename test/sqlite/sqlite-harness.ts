import type { Database } from "better-sqlite3";
import { migrate, sqliteDedup, sqliteStore } from "posthorn/sqlite";
import { createFakeClock } from "posthorn/testing";
import type {
  CursorHarness,
  DedupBench,
  DedupHarness,
  FakeClock,
  InboxBench,
  InboxHarness,
} from "posthorn/testing";
import { createDatabaseFile } from "./database-file.js";

const capabilities = {
  sharesHostTransaction: true,
  survivesPowerLoss: true,
  multiProcess: true,
  clock: "process",
} as const;

/** Two handles on one file stand for two processes: to SQLite they are. A third belongs to the host's transaction. */
export const sqliteDedupHarness: DedupHarness = {
  capabilities,
  exactTime: true,
  oneWriter: true,
  open() {
    const file = createDatabaseFile();
    const clock = createFakeClock();
    const make = () => sqliteDedup({ db: file.open(), clock });
    const bench: DedupBench = {
      adapters: [make(), make()],
      time: timeOf(clock),
      begin() {
        const db = file.open();
        const adapter = sqliteDedup({ db, clock });
        db.exec("begin immediate");
        const end = (how: string) => Promise.resolve(void db.exec(how));
        return Promise.resolve({ adapter, commit: () => end("commit"), rollback: () => end("rollback") });
      },
      close: () => Promise.resolve(file.remove()),
    };
    // Created before anybody holds a transaction open in which no table can be made.
    return Promise.resolve(make().record("made", 1)).then(() => bench);
  },
};

export const sqliteCursorHarness: CursorHarness = {
  capabilities,
  async open() {
    const file = createDatabaseFile();
    await migrate(file.open());
    return {
      stores: [sqliteStore({ db: file.open() }), sqliteStore({ db: file.open() })],
      close: () => Promise.resolve(file.remove()),
    };
  },
};

export const sqliteInboxHarness: InboxHarness<Database> = {
  capabilities,
  transactions: "synchronous",
  exactTime: true,
  listsRefused: true,
  runsStatements: true,
  saturates: true,
  losesAnswers: false,
  async open(): Promise<InboxBench<Database>> {
    const file = createDatabaseFile();
    const clock = createFakeClock();
    const host = file.open();
    await migrate(host);
    host.exec("create table effect (mark text not null)");
    return {
      stores: [sqliteStore({ db: file.open(), clock }), sqliteStore({ db: file.open(), clock })],
      time: timeOf(clock),
      write: (tx, mark) => void tx.prepare("insert into effect (mark) values (?)").run(mark),
      written: () => Promise.resolve(host.prepare("select mark from effect").pluck().all() as string[]),
      run: (tx, statement) => void tx.exec(statement === "broken" ? "select * from missing" : statement),
      saturate() {
        host.exec("begin immediate");
        return Promise.resolve(() => Promise.resolve(void host.exec("rollback")));
      },
      refused: () => Promise.resolve(refusedIn(host)),
      close: () => Promise.resolve(file.remove()),
    };
  },
};

function refusedIn(db: Database): Awaited<ReturnType<NonNullable<InboxBench["refused"]>>> {
  const rows = db.prepare("select event_id as id, because, body from posthorn_inbox_refused").all();
  return rows as Awaited<ReturnType<NonNullable<InboxBench["refused"]>>>;
}

function timeOf(clock: FakeClock): DedupBench["time"] {
  return { tickS: 3600, pass: (ms) => clock.advance(ms) };
}
