import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, it } from "vitest";
import { RegistryDatabase } from "./database.js";

const [NORMAL, FULL] = [1, 2];
let db: Database.Database;
let registry: RegistryDatabase;

beforeEach(() => {
  db = new Database(":memory:");
  db.exec("create table mark (name text)");
  db.pragma(`synchronous = ${FULL}`);
  registry = new RegistryDatabase(db);
});
afterEach(() => void db.close());

const level = (): unknown => db.pragma("synchronous", { simple: true });

it("what may be lost when the power fails is written without a wait for the disk, and nothing else is", async () => {
  const seen = await registry.unsynced((run) => {
    run("insert into mark (name) values (?)", "written");
    return level();
  });
  expect([seen, level()]).toEqual([NORMAL, FULL]);
  expect(await registry.transaction(level)).toBe(FULL);
});

it("commits wait for the disk again after one that failed", async () => {
  const failing = registry.unsynced((run) => run("insert into mark (nobody) values (1)"));
  await expect(failing).rejects.toMatchObject({
    code: "store_unavailable",
    message: "The database did not answer as it should: table mark has no column named nobody",
  });
  expect([level(), await registry.all("select * from mark")]).toEqual([FULL, []]);
});

it("nothing is written into a transaction of somebody else", async () => {
  db.exec("begin");
  const refused = registry.unsynced((run) => run("insert into mark (name) values ('lost')"));
  await expect(refused).rejects.toMatchObject({ code: "store_unavailable" });
  db.exec("rollback");
  expect(level()).toBe(FULL);
});
