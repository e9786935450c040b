import Database from "better-sqlite3";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { systemClock } from "../../clock.js";
import { SqliteClient } from "./client.js";
import { DurabilityKeeper } from "./durability.js";
import { GroupCommit } from "./group-commit.js";
import { LogSync } from "./log-sync.js";

let folder: string;
let db: Database.Database;
let group: GroupCommit;
/** The syncs that are under way; each ends when it is called. */
let syncs: ((error: Error | null) => void)[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "posthorn-log-"));
  db = new Database(join(folder, "test.db"));
  group = groupOf(db);
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

function groupOf(handle: Database.Database): GroupCommit {
  handle.pragma("journal_mode = wal");
  handle.exec("create table mark (name text)");
  const client = new SqliteClient(handle);
  const durability = new DurabilityKeeper(client);
  durability.require("set", { name: "test", observer: undefined });
  syncs = [];
  const log = new LogSync(client, (_file, done) => syncs.push(done));
  return new GroupCommit({ client, durability, log, clock: systemClock, guarded: false, random: () => 0 });
}

const level = (): unknown => db.pragma("synchronous", { simple: true });
const count = (): unknown => db.prepare("select count(*) from mark").pluck().get();
const write = (): void => void db.prepare("insert into mark (name) values ('written')").run();
const joined = <T>(run: () => T, waitMs = 5000): Promise<T | "expired"> =>
  group.join<T | "expired">({ run, undoable: true, waitMs, expired: () => "expired" });

/** All that is ready to run has run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Ends the one sync that is under way. */
async function endSync(error: Error | null = null): Promise<void> {
  await settled();
  expect(syncs).toHaveLength(1);
  syncs.shift()?.(error);
  await settled();
}

it("answers when the log is on the disk, and lets those who come meanwhile share the next wait", async () => {
  const answered: string[] = [];
  const call = (name: string): void => void joined(write).then(() => answered.push(name));
  call("first");
  await settled();
  expect(count()).toBe(1);
  call("second");
  call("third");
  await settled();
  expect([answered, count()]).toEqual([[], 1]);
  await endSync();
  expect([answered, count()]).toEqual([["first"], 3]);
  await endSync();
  expect(answered).toEqual(["first", "second", "third"]);
  expect(syncs).toEqual([]);
});

it("commits without a wait of SQLite's own, and leaves the handle as it was", async () => {
  const seen = joined(() => {
    write();
    return level();
  });
  await endSync();
  expect([await seen, level()]).toEqual([1, 2]);
});

it("does not sync for a group that has written nothing", async () => {
  expect(await joined(count)).toBe(0);
  expect(syncs).toEqual([]);
});

it("leaves it to SQLite to wait where there is no log to sync", async () => {
  const memory = new Database(":memory:");
  const inMemory = groupOf(memory);
  const insert = (): void => void memory.prepare("insert into mark (name) values ('written')").run();
  await inMemory.join({ run: insert, undoable: true, waitMs: 5000, expired: () => undefined });
  expect(memory.pragma("synchronous", { simple: true })).toBe(3);
  expect(syncs).toEqual([]);
  memory.close();
});

it("says after a failed sync that nobody knows, and an error of a caller's own stays its own", async () => {
  const [first, second] = [
    joined(write),
    joined(() => {
      throw new Error("its own");
    }),
  ];
  const told = Promise.allSettled([first, second]);
  await endSync(new Error("EIO: i/o error"));
  expect(await told).toMatchObject([
    { reason: { code: "commit_unknown", message: expect.stringContaining("EIO: i/o error") } },
    { reason: { message: "its own" } },
  ]);
});

it("empties a log that was not synced before anything else is written", async () => {
  const failed = joined(write).catch(() => undefined);
  await endSync(new Error("EIO"));
  await failed;
  const reader = new Database(join(folder, "test.db"));
  reader.exec("begin; select * from mark");
  expect(await joined(write, 20)).toBe("expired");
  expect(count()).toBe(1);
  reader.exec("rollback");
  const written = joined(write);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await endSync();
  await written;
  expect(count()).toBe(2);
  // One page of the one row that came since, and not those before it.
  expect(reader.prepare("pragma wal_checkpoint(passive)").get()).toMatchObject({ log: 1 });
  reader.close();
});
