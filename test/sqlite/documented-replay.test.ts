import { expect, it } from "vitest";
import { EVENTS, onSqlite, reconciled, replayed } from "../doc-snippets/replaying-page.js";
import type { ReplayingDatabase } from "../doc-snippets/replaying-page.js";

// The programs of docs/replaying.md with the page's store on SQLite, each in a process and on a file of its own.

const database: ReplayingDatabase = {
  named: { "store.js": "fileMustExist" },
  edits: { "reconcile.js": onSqlite },
  prepare: `
    import Database from "better-sqlite3";
    import { migrate } from "posthorn/sqlite";
    const db = new Database("shop.db");
    await migrate(db);
    const run = async (sql) => db.exec(sql);`,
  handler: `({ id }) => (tx) => {
    handle(id);
    tx.prepare("insert into payment values (?) on conflict do nothing").run(id);
  }`,
};

it("the documented program counts first, and changes nothing", async () => {
  expect(await replayed(database)).toMatch(
    new RegExp(`^${EVENTS} would be handled again: add "run"\n${EVENTS} `),
  );
});

it("the documented program replays all of a span, oldest first in the order of the key, and says what it answered", async () => {
  expect(await replayed(database, "run")).toBe(
    `${EVENTS} of ${EVENTS} are to be handled again\n${2 * EVENTS} true evt_${EVENTS}\n`,
  );
});

it("the documented comparison says what the table lacks, and what it has though it was never applied", async () => {
  expect(await reconciled(database)).toBe(
    "missing stripe evt_140\nmissing stripe evt_007\nextra stripe evt_001\n",
  );
});
