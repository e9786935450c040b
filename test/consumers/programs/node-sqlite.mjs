// Runs every promise of the stores on handles of node:sqlite, which this repository's own Node does not have.
// A program for the built package, for Node 22.16 or newer: `node node-sqlite.mjs`. Exits with 1, and names
// the promise, when one is broken; its last line is for machines.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate, sqliteDedup, sqliteStore } from "posthorn/sqlite";
import { createFakeClock, dedupConformance, inboxConformance, outboxConformance } from "posthorn/testing";

/** @import { SqliteDatabase } from "posthorn/sqlite" */
/** @import { Case, DedupHarness, InboxHarness, OutboxHarness } from "posthorn/testing" */
/** @typedef {Record<"run" | "get" | "all", (...values: unknown[]) => any>} Statement */
/** @typedef {Omit<SqliteDatabase, "prepare"> & { prepare(sql: string): Statement, close(): void, isOpen: boolean }} Handle */

// By a name that is computed: Node 20's types know no such module.
const moduleName = "node:sqlite";
/** @type {{ DatabaseSync: new (path: string, options?: object) => Handle }} */
const { DatabaseSync } = await import(moduleName);

const capabilities = /** @type {const} */ ({
  sharesHostTransaction: true,
  survivesPowerLoss: true,
  multiProcess: true,
  clock: "process",
});

/** An empty file, with a handle for each that asks. The options are those that change what statements return. */
function createFile() {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-node-sqlite-"));
  /** @type {Handle[]} */
  const handles = [];
  return {
    open() {
      const db = new DatabaseSync(join(folder, "test.db"), { readBigInts: handles.length % 2 === 1 });
      handles.push(db);
      return db;
    },
    remove() {
      for (const db of handles) if (db.isOpen) db.close();
      rmSync(folder, { recursive: true, force: true });
      return Promise.resolve();
    },
  };
}

/** @type {DedupHarness} */
const dedupHarness = {
  capabilities,
  exactTime: true,
  oneWriter: true,
  async open() {
    const file = createFile();
    const clock = createFakeClock();
    const make = () => sqliteDedup({ db: file.open(), clock });
    await make().record("made", 1);
    return {
      adapters: [make(), make()],
      time: { tickS: 3600, pass: (ms) => clock.advance(ms) },
      begin() {
        const db = file.open();
        const adapter = sqliteDedup({ db, clock });
        db.exec("begin immediate");
        const end = (/** @type {string} */ how) => Promise.resolve(void db.exec(how));
        return Promise.resolve({ adapter, commit: () => end("commit"), rollback: () => end("rollback") });
      },
      close: () => file.remove(),
    };
  },
};

/** @type {InboxHarness<Handle>} */
const inboxHarness = {
  capabilities,
  transactions: "synchronous",
  exactTime: true,
  listsRefused: true,
  runsStatements: true,
  saturates: true,
  losesAnswers: false,
  async open() {
    const file = createFile();
    const clock = createFakeClock();
    const host = file.open();
    await migrate(host);
    host.exec("create table effect (mark text not null)");
    const all = (/** @type {string} */ sql) => /** @type {any[]} */ (host.prepare(sql).all());
    return {
      stores: [sqliteStore({ db: file.open(), clock }), sqliteStore({ db: file.open(), clock })],
      time: { tickS: 3600, pass: (ms) => clock.advance(ms) },
      write: (tx, mark) => void tx.prepare("insert into effect (mark) values (?)").run(mark),
      written: () => Promise.resolve(all("select mark from effect").map(({ mark }) => mark)),
      run: (tx, statement) => void tx.exec(statement === "broken" ? "select * from missing" : statement),
      saturate() {
        host.exec("begin immediate");
        return Promise.resolve(() => Promise.resolve(void host.exec("rollback")));
      },
      refused: () => Promise.resolve(all("select event_id as id, because, body from posthorn_inbox_refused")),
      close: () => file.remove(),
    };
  },
};

/** @type {OutboxHarness<Handle>} */
const outboxHarness = {
  capabilities,
  transactions: "synchronous",
  exactTime: true,
  listsCancelled: false,
  async open() {
    const file = createFile();
    const clock = createFakeClock();
    const host = file.open();
    await migrate(host);
    return {
      outboxes: [sqliteStore({ db: file.open(), clock }), sqliteStore({ db: file.open(), clock })],
      time: { tickS: 3600, pass: (ms) => clock.advance(ms) },
      async transaction(work) {
        host.exec("begin immediate");
        try {
          const result = await work(host);
          host.exec("commit");
          return result;
        } catch (error) {
          host.exec("rollback");
          throw error;
        }
      },
      close: () => file.remove(),
    };
  },
};

/** What only node:sqlite can get wrong. @type {Readonly<Record<string, () => Promise<void>>>} */
const own = {
  "a handler that runs rollback fails alone": async () => {
    const file = createFile();
    const db = file.open();
    await migrate(db);
    const store = sqliteStore({ db });
    const kinds = ["a", "b", "c"].map(async (id) => {
      const work = (/** @type {Handle} */ tx) => {
        if (id === "b") tx.exec("rollback");
        return /** @type {const} */ ({ outcome: "success" });
      };
      const limits = { acquireMs: 1000, signal: new AbortController().signal };
      return (await store.accept(arrival(id), work, limits)).kind;
    });
    const found = (await Promise.all(kinds)).join();
    await file.remove();
    if (found !== "applied,failed,applied") throw new Error(`found ${found}`);
  },
  "a read-only handle is told so": async () => {
    const file = createFile();
    const path = file.open();
    await migrate(path);
    const where = path.prepare("pragma database_list").get().file;
    const db = new DatabaseSync(where, { readOnly: true });
    const found = await sqliteStore({ db, durability: "as_is" })
      .fail(arrival("a"), "no")
      .then(
        () => "written",
        (error) => error.code,
      );
    db.close();
    await file.remove();
    if (found !== "store_client_unsupported") throw new Error(`found ${found}`);
  },
};

/** @param {string} id */
function arrival(id) {
  const rest = { idPreview: undefined, type: "t", eventAt: undefined, headers: "{}", windowS: 60 };
  return {
    tenant: "default",
    source: "stripe",
    id,
    body: new Uint8Array(3),
    bodyHash: new Uint8Array(32),
    ...rest,
  };
}

/** @type {Pick<Case, "name" | "declined" | "run">[]} */
const cases = [
  ...dedupConformance(dedupHarness),
  ...inboxConformance(inboxHarness),
  ...outboxConformance(outboxHarness),
  ...Object.entries(own).map(([name, run]) => ({ name, declined: undefined, run })),
];
const broken = [];
for (const { name, declined, run } of cases) {
  if (declined !== undefined) continue;
  try {
    await run();
  } catch (error) {
    broken.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
for (const problem of broken) console.error(problem);
const kept = cases.filter(({ declined }) => declined === undefined).length - broken.length;
console.log(`posthorn-consumer ${JSON.stringify({ kept, broken: broken.length })}`);
if (broken.length > 0) process.exitCode = 1;
