import type { Database } from "better-sqlite3";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { MIGRATIONS, migrate } from "posthorn/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { skipFor } from "../skip-reason.js";
import type { DatabaseFile } from "./database-file.js";
import { createDatabaseFile } from "./database-file.js";
import { printSchema } from "./catalog.js";

const stores = fileURLToPath(new URL("../../library/src/stores/", import.meta.url));
const filesOf = (store: string) => readdirSync(`${stores}${store}/schema/migrations`).toSorted();
const hasPostgres = existsSync(`${stores}postgres/schema/migrations.ts`);

let file: DatabaseFile;
let db: Database;
beforeEach(() => {
  file = createDatabaseFile();
  db = file.open();
});
afterEach(() => file.remove());

describe("migrate", () => {
  it("makes the schema that is committed", async () => {
    await migrate(db);
    await expect(printSchema(db)).toMatchFileSnapshot(`${stores}sqlite/schema/schema.sql`);
  });

  it("changes nothing the second time", async () => {
    const names = MIGRATIONS.map(({ name }) => name);
    expect(await migrate(db)).toEqual({ applied: names, version: names.length });
    const before = printSchema(db);
    expect(await migrate(db)).toEqual({ applied: [], version: names.length });
    expect(printSchema(db)).toBe(before);
  });

  it("is done once when several handles start at the same moment", async () => {
    const reports = await Promise.all([db, file.open(), file.open(), db].map((handle) => migrate(handle)));
    expect(reports.filter(({ applied }) => applied.length > 0)).toHaveLength(1);
  });

  it("takes over tables that somebody's own tool has made from the SQL files", async () => {
    for (const { sql } of MIGRATIONS) db.exec(sql);
    const before = printSchema(db);
    await migrate(db);
    expect(printSchema(db)).toContain(before.slice(0, 100));
  });

  it("leaves no half when it fails", async () => {
    db.exec("create view posthorn_dedup as select 1");
    await expect(migrate(db)).rejects.toMatchObject({ code: "store_unavailable" });
    const tables = db.prepare("select name from sqlite_schema where type = 'table'").pluck().all();
    expect(tables).toEqual([]);
  });

  it("waits for a transaction of the host, and gives up in time", async () => {
    db.exec("begin");
    await expect(migrate(db, { waitMs: 20 })).rejects.toMatchObject({ code: "store_unavailable" });
    const waiting = migrate(db);
    db.exec("commit");
    expect((await waiting).version).toBe(MIGRATIONS.length);
  });
});

describe("another set of migrations", () => {
  const server = {
    name: "server",
    migrations: [
      {
        version: 1,
        name: "0001_create_token",
        sql: "create table server_token (id integer primary key) strict",
      },
      { version: 2, name: "0002_add_name", sql: "alter table server_token add column name text;" },
    ],
  };

  it("is run beside Posthorn's own, with versions of its own", async () => {
    await migrate(db);
    const first = { ...server, migrations: server.migrations.slice(0, 1) };
    expect(await migrate(db, { set: first })).toEqual({ applied: ["0001_create_token"], version: 1 });
    expect(await migrate(db, { set: server })).toEqual({ applied: ["0002_add_name"], version: 2 });
    expect(await migrate(db, { set: server })).toEqual({ applied: [], version: 2 });
    expect(await migrate(db, { set: { ...first, name: "other", migrations: [] } })).toMatchObject({
      version: 0,
    });
    expect((await migrate(db)).applied).toEqual([]);
  });

  it("of a newer version is left alone", async () => {
    await migrate(db, { set: server });
    const older = { ...server, migrations: server.migrations.slice(0, 1) };
    await expect(migrate(db, { set: older })).rejects.toMatchObject({ code: "store_not_migrated" });
  });

  it("leaves no half when it fails", async () => {
    const broken = { version: 3, name: "0003_break", sql: "create table server_x (a); create nonsense" };
    const set = { ...server, migrations: [...server.migrations, broken] };
    await expect(migrate(db, { set })).rejects.toMatchObject({ code: "store_unavailable" });
    expect(printSchema(db)).not.toContain("server_");
  });
});

describe("the migrations", () => {
  it("are the SQL files, in their order, numbered without a gap", () => {
    const files = filesOf("sqlite").map((name) => [
      name,
      readFileSync(`${stores}sqlite/schema/migrations/${name}`, "utf8"),
    ]);
    expect(MIGRATIONS.map(({ name, sql }) => [`${name}.sql`, sql])).toEqual(files);
    expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
    expect(MIGRATIONS.map(({ name }) => Number(name.slice(0, 4)))).toEqual(
      MIGRATIONS.map((_, index) => index + 1),
    );
  });

  it(
    "have the numbers and names of Postgres's",
    skipFor(!hasPostgres && "the Postgres store is not there yet"),
    () => {
      expect(filesOf("sqlite")).toEqual(filesOf("postgres"));
    },
  );
});
