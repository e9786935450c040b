import type { Database } from "better-sqlite3";
import { createSender } from "posthorn";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { openLanding } from "../outbox-landing.js";
import { publicationOf, pythonWith, runExample, statement, vectors } from "../outbox-spec.js";
import type { OutboxRow } from "../outbox-spec.js";
import { createDatabaseFile } from "./database-file.js";

const python = pythonWith("sqlite3");

async function openFile(): Promise<{
  readonly db: Database;
  readonly path: string;
  readonly other: Database;
}> {
  const file = createDatabaseFile();
  onTestFinished(() => file.remove());
  const db = file.open();
  await migrate(db);
  return { db, path: db.name, other: file.open() };
}

/** As another program would: the statements of the page, on a handle of its own. */
function publish(db: Database, row: OutboxRow): void {
  const { public_id, tenant, source, type, key, content_type, headers, event_ms, expires_ms, body } = row;
  const names = [public_id, tenant, source, type, key, content_type, headers];
  db.exec("begin immediate");
  const { lastInsertRowid } = db
    .prepare(statement("sqlite: publish"))
    .run(...names, event_ms, expires_ms, Buffer.from(body), Date.now());
  db.prepare(statement("sqlite: stage")).run(tenant, lastInsertRowid);
  db.exec("commit");
}

function rowsOf(db: Database): unknown[] {
  return db
    .prepare(
      `select public_id, tenant, source, type, key, content_type, headers, event_at, expires_at, deliver_at, direction, body
       from posthorn_event order by id`,
    )
    .all();
}

describe("spec/outbox.md, in SQLite", () => {
  it("writes the rows that our own sender writes", async () => {
    const ours = await openFile();
    const sender = createSender({ store: sqliteStore({ db: ours.db }) });
    for (const { publication } of vectors.cases) await sender.publish(publicationOf(publication));
    const theirs = await openFile();
    for (const { row } of vectors.cases) publish(theirs.other, row);
    expect(rowsOf(theirs.db)).toEqual(rowsOf(ours.db));
    expect(rowsOf(ours.db)).toHaveLength(vectors.cases.length);
  });

  it("is delivered as what our own sender published, in order", async () => {
    const { db, other } = await openFile();
    const store = sqliteStore({ db });
    const { landed, deliver } = await openLanding(store);
    const sender = createSender({ store });
    const row = { ...(vectors.cases[0]?.row as OutboxRow), key: "customer-7", event_ms: Date.now() };
    for (let n = 0; n < 6; n++) {
      if (n % 2 === 0) publish(other, { ...row, public_id: `foreign-${n}` });
      else await sender.publish({ id: `own-${n}`, type: "order.placed", key: "customer-7", data: {} });
    }
    await deliver();
    expect(landed.map(({ id }) => id)).toEqual([
      "foreign-0",
      "own-1",
      "foreign-2",
      "own-3",
      "foreign-4",
      "own-5",
    ]);
  });

  it.skipIf(python === undefined)(
    `the Python example publishes with its order, and nothing where the order is rolled back${python === undefined ? " (no python3 here)" : ""}`,
    async () => {
      const { db, path } = await openFile();
      db.exec("create table orders (number integer primary key, customer text not null)");
      const { landed, deliver } = await openLanding(sqliteStore({ db }));
      const printed = await runExample(python as string, ["sqlite.py", path]);
      await deliver();
      expect(printed).toHaveLength(4);
      expect(printed[3]).toBe("the card was declined");
      expect(landed.map(({ id }) => id)).toEqual(printed.slice(0, 3));
      expect(landed.every(({ type, key }) => type === "order.placed" && key === "customer-7")).toBe(true);
      expect(db.prepare("select count(*) from orders").pluck().get()).toBe(3);
    },
  );
});
