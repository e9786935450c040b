import Database from "better-sqlite3";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Signal } from "../../../observer.js";
import { connectionOf } from "./connection.js";
import type { Durability } from "./durability.js";
import { lostPromises } from "./durability.js";

let folder: string;
let db: Database.Database;
const signals: Signal[] = [];
const asked = { name: "sqliteStore", observer: (signal: Signal) => void signals.push(signal) };
const need = (durability: Durability, handle = db) =>
  connectionOf(handle).durability.require(durability, asked);
const level = () => db.pragma("synchronous", { simple: true });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "posthorn-durability-"));
  db = new Database(join(folder, "test.db"));
  signals.length = 0;
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

describe("lostPromises", () => {
  it.each([
    [{ file: true, journalMode: "wal", synchronous: 2 }, []],
    [{ file: true, journalMode: "wal", synchronous: 3 }, []],
    [{ file: true, journalMode: "wal", synchronous: 1 }, ["synchronous normal full"]],
    [{ file: true, journalMode: "wal", synchronous: 0 }, ["synchronous off full"]],
    [{ file: true, journalMode: "delete", synchronous: 2 }, ["synchronous full extra"]],
    [{ file: true, journalMode: "delete", synchronous: 3 }, []],
    [{ file: true, journalMode: "memory", synchronous: 3 }, ["journal_mode memory wal"]],
    [{ file: false, journalMode: "memory", synchronous: 2 }, ["database in memory a file"]],
  ])("of %o are %o", (settings, lost) => {
    expect(lostPromises(settings).map((each) => Object.values(each).join(" "))).toEqual(lost);
  });
});

describe("a handle of better-sqlite3", () => {
  it("commits with less than full once it has read a WAL file, although it said full before: the trap", () => {
    db.pragma("journal_mode = wal");
    expect(level()).toBe(2);
    db.prepare("select 1 from sqlite_schema").get();
    expect(level()).toBe(1);
  });

  it("is set to WAL and full by default, and says nothing", () => {
    expect(need("set")).toEqual({ file: true, journalMode: "wal", synchronous: 2 });
    db.exec("create table t (a)");
    expect([level(), signals]).toEqual([2, []]);
  });

  it("keeps `extra` where the host has chosen more than is needed", () => {
    db.pragma("journal_mode = wal");
    db.pragma("synchronous = extra");
    need("set");
    connectionOf(db).durability.keep();
    expect(level()).toBe(3);
  });

  it("is raised again before the next transaction when the host has lowered it", async () => {
    need("set");
    db.exec("create table t (a)");
    db.pragma("synchronous = normal");
    const turn = { run: level, undoable: false, waitMs: 100, expired: () => undefined };
    const seen = await connectionOf(db).statements.join(turn);
    expect(seen).toBe(2);
  });

  it("is left as it is when asked, and what is lost is reported", () => {
    expect(need("as_is")).toMatchObject({ journalMode: "delete", synchronous: 2 });
    const lost = { setting: "synchronous", value: "full", expected: "extra" };
    expect(signals).toEqual([{ kind: "store_promise_lost", store: "sqliteStore", ...lost }]);
  });

  it("is changed by nobody inside a transaction of the host, and right after it", () => {
    db.pragma("journal_mode = wal");
    db.exec("create table t (a); begin");
    need("set");
    expect([level(), signals.length]).toEqual([1, 1]);
    db.exec("commit");
    connectionOf(db).durability.keep();
    expect(level()).toBe(2);
  });
});

describe("a database in memory", () => {
  it("is served and reported, unless durability is strict", () => {
    const memory = new Database(":memory:");
    expect(need("set", memory).file).toBe(false);
    expect(signals).toMatchObject([{ kind: "store_promise_lost", value: "in memory", expected: "a file" }]);
    expect(() => need("strict", memory)).toThrow(
      /durability is "strict".*database is in memory; expected a file/,
    );
    memory.close();
  });
});
