import type { Database } from "better-sqlite3";
import { readdirSync, readFileSync } from "node:fs";
import { createSender } from "posthorn";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { createFakeClock } from "posthorn/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { openLanding } from "../outbox-landing.js";
import { FIRST_VERSION, publicationOf, pythonWith, runExample, statement, vectors } from "../outbox-spec.js";
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

function namesOf({ public_id, tenant, source, type, key, content_type, headers }: OutboxRow): unknown[] {
  return [public_id, tenant, source, type, key, content_type, headers];
}

/** The statements of the page in a transaction, as another program would run them. */
function publish(db: Database, row: OutboxRow, { once = false } = {}): "written" | "known" {
  db.exec("begin immediate");
  const isKnown = once && !keepId(db, row);
  if (!isKnown) writeEvent(db, row);
  db.exec("commit");
  return isKnown ? "known" : "written";
}

function keepId(db: Database, { tenant, public_id, content_hash }: OutboxRow): boolean {
  const kept = db
    .prepare(statement("sqlite: keep id"))
    .run(tenant, public_id, Buffer.from(content_hash, "hex"));
  return kept.changes === 1;
}

function writeEvent(db: Database, row: OutboxRow): void {
  const { tenant, event_ms, expires_ms, deliver_ms, body } = row;
  const values = [...namesOf(row), event_ms, expires_ms, Buffer.from(body), Date.now()];
  if (deliver_ms === null) {
    const { lastInsertRowid } = db.prepare(statement("sqlite: publish")).run(...values);
    db.prepare(statement("sqlite: stage")).run(tenant, lastInsertRowid);
  } else {
    const { lastInsertRowid } = db.prepare(statement("sqlite: publish later")).run(...values, deliver_ms);
    db.prepare(statement("sqlite: put off")).run(deliver_ms, lastInsertRowid);
  }
}

function rowsOf(db: Database): unknown[] {
  return db
    .prepare(
      `select public_id, tenant, source, type, key, content_type, headers, event_at, expires_at, e.deliver_at, direction, body,
         l.deliver_at as put_off_until
       from posthorn_event e left join posthorn_later l on l.event = e.id order by id`,
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

  it("publishes once: the statements and our own sender know each other's ids, also of what is to wait", async () => {
    const { db, other } = await openFile();
    const sender = createSender({ store: sqliteStore({ db }) });
    for (const { row, publication } of vectors.cases) {
      expect(publish(other, row, { once: true })).toBe("written");
      expect(publish(other, row, { once: true })).toBe("known");
      expect(await sender.publish(publicationOf(publication))).toMatchObject({ duplicate: true });
      expect(
        other.prepare(statement("sqlite: published hash")).pluck().get(row.tenant, row.public_id),
      ).toEqual(Buffer.from(row.content_hash, "hex"));
      const another = { ...publication, data: undefined, body: '{"a": 3}' };
      await expect(sender.publish(publicationOf(another))).rejects.toMatchObject({ code: "id_conflict" });
    }
    expect(rowsOf(db)).toHaveLength(vectors.cases.length);
  });

  it("refuses a time in words, and a body that is a text", async () => {
    const { other } = await openFile();
    const row = vectors.cases[0]?.row as OutboxRow;
    const run = (at: unknown, body: unknown) =>
      other.prepare(statement("sqlite: publish")).run(...namesOf(row), at, null, body, 0);
    expect(() => run("2026-11-15T12:00:00Z", Buffer.from("{}"))).toThrow("cannot store TEXT value");
    expect(() => run(row.event_ms, "{}")).toThrow("cannot store TEXT value");
    expect(run(row.event_ms, Buffer.from("{}")).changes).toBe(1);
  });

  it("says which version the tables have, and from which version on they have all that it writes to", async () => {
    const { db, other } = await openFile();
    const { version } = await migrate(db);
    expect(other.prepare(statement("sqlite: version")).pluck().get()).toBe(version);
    const file = createDatabaseFile();
    onTestFinished(() => file.remove());
    const empty = file.open();
    const folder = new URL("../../library/src/stores/sqlite/schema/migrations/", import.meta.url);
    for (const each of readdirSync(folder).toSorted().slice(0, FIRST_VERSION)) {
      expect(() => empty.prepare(statement("sqlite: put off"))).toThrow("no such table: posthorn_later");
      empty.exec(readFileSync(new URL(each, folder), "utf8"));
    }
    for (const { row } of vectors.cases) expect(publish(empty, row, { once: true })).toBe("written");
  });

  it("is delivered when its time has come, and not before", async () => {
    const clock = createFakeClock({ at: Date.now() });
    const { db, other } = await openFile();
    const { landed, deliver } = await openLanding(sqliteStore({ db, clock }));
    const row = { ...(vectors.cases[0]?.row as OutboxRow), event_ms: clock.now() };
    publish(other, { ...row, public_id: "later", deliver_ms: clock.now() + 60_000 });
    await clock.advance(59_000);
    await deliver();
    expect(landed).toEqual([]);
    await clock.advance(1000);
    await deliver();
    expect(landed.map(({ id }) => id)).toEqual(["later"]);
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
