import { dedup } from "posthorn";
import { migrate, sqliteDedup } from "posthorn/sqlite";
import type { SqliteDedup } from "posthorn/sqlite";
import { createFakeClock } from "posthorn/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { DatabaseFile } from "./database-file.js";
import { createDatabaseFile } from "./database-file.js";

const DAY_S = 24 * 3600;
let file: DatabaseFile;
beforeEach(() => void (file = createDatabaseFile()));
afterEach(() => file.remove());

const numbered = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}_${n}`);

/** Records all ids at once, and says of each whether it is a duplicate. */
function recordAll(adapter: SqliteDedup, ids: readonly string[], ttlS: number): Promise<boolean[]> {
  return Promise.all(ids.map(async (id) => (await adapter.record(id, ttlS)).duplicate));
}

describe("dedup() with sqliteDedup", () => {
  it("tells exactly one of a thousand concurrent callers that it is first", async () => {
    const db = file.open();
    const calls = Array.from({ length: 1000 }, () =>
      dedup("invoice.paid", "evt_1", { ttl: DAY_S, adapter: sqliteDedup({ db }) }),
    );
    const first = (await Promise.all(calls)).filter(({ duplicate }) => !duplicate);
    expect(first).toHaveLength(1);
  });

  it("keeps the ids of two scopes apart, and refuses a ttl in milliseconds with the hint", async () => {
    const db = file.open();
    const found: boolean[] = [];
    for (const scope of ["stripe", "github", "stripe"]) {
      const adapter = sqliteDedup({ db, scope });
      found.push((await dedup("invoice.paid", "evt_1", { ttl: DAY_S, adapter })).duplicate);
    }
    expect(found).toEqual([false, false, true]);
    expect(() => sqliteDedup({ db, scope: "" })).toThrow(
      expect.objectContaining({ code: "inbox_option_invalid" }),
    );
    const adapter = sqliteDedup({ db });
    await expect(dedup("invoice.paid", "evt_1", { ttl: DAY_S * 1000, adapter })).rejects.toMatchObject({
      code: "inbox_option_invalid",
      message: expect.stringContaining("In seconds they are 86400") as string,
    });
  });

  it("forgets an id with the rollback of the host's transaction, and remembers it with the commit", async () => {
    const db = file.open();
    await migrate(db);
    const adapter = sqliteDedup({ db });
    const handle = (fails: boolean) =>
      db.transaction(() => {
        const { duplicate } = adapter.recordInTransaction("evt_1", DAY_S);
        if (fails) throw new Error("no");
        return duplicate;
      });
    expect(handle(true)).toThrow("no");
    expect([handle(false)(), handle(false)()]).toEqual([false, true]);
    expect(await adapter.record("evt_1", DAY_S)).toEqual({ duplicate: true });
  });

  it("answers inside a transaction without a promise, so that a synchronous transaction can use it", async () => {
    const db = file.open();
    await migrate(db);
    const adapter = sqliteDedup({ db });
    db.exec("begin");
    expect(adapter.record("evt_1", DAY_S)).toEqual({ duplicate: false });
    db.exec("commit");
  });

  it("may be made inside the transaction", async () => {
    const db = file.open();
    await migrate(db);
    db.transaction(() => {
      expect(sqliteDedup({ db }).record("evt_1", DAY_S)).toEqual({ duplicate: false });
    })();
    expect(await sqliteDedup({ db }).record("evt_1", DAY_S)).toEqual({ duplicate: true });
  });
});

describe("a table that is missing", () => {
  it("is created outside a transaction", async () => {
    const db = file.open();
    const adapter = sqliteDedup({ db });
    expect(await recordAll(adapter, ["a", "a", "b"], DAY_S)).toEqual([false, true, false]);
  });

  it("is told with the command inside a transaction, which stays fit for use", () => {
    const db = file.open();
    const adapter = sqliteDedup({ db });
    db.exec("create table host (a); begin; insert into host values (1)");
    expect(() => adapter.record("a", DAY_S)).toThrow(expect.objectContaining({ code: "store_not_migrated" }));
    expect(() => adapter.record("a", DAY_S)).toThrow(/await migrate\(db\).*outside a transaction/);
    db.exec("commit");
    expect(db.prepare("select count(*) from host").pluck().get()).toBe(1);
    expect(db.prepare("select 1 from sqlite_schema where name = 'posthorn_dedup'").get()).toBeUndefined();
  });

  it("is told and left alone where autoMigrate is off", async () => {
    const adapter = sqliteDedup({ db: file.open(), autoMigrate: false });
    await expect(adapter.record("a", DAY_S)).rejects.toMatchObject({ code: "store_not_migrated" });
  });

  it("created by the adapter is the table that migrate creates", async () => {
    const schema = "select sql from sqlite_schema where tbl_name = 'posthorn_dedup' order by name";
    const [made, migrated] = [file.open(), createDatabaseFile()];
    await sqliteDedup({ db: made }).record("a", DAY_S);
    const other = migrated.open();
    await migrate(other);
    expect(made.prepare(schema).all()).toEqual(other.prepare(schema).all());
    await migrate(made);
    migrated.remove();
    expect(await sqliteDedup({ db: made }).record("a", DAY_S)).toEqual({ duplicate: true });
  });
});

describe("expired ids", () => {
  it("are removed as new ones come, faster than they come", async () => {
    const db = file.open();
    const clock = createFakeClock();
    const adapter = sqliteDedup({ db, clock });
    await recordAll(adapter, numbered("old", 300), 60);
    await clock.advance(61_000);
    await recordAll(adapter, numbered("new", 100), 60);
    const left = db.prepare("select count(*) from posthorn_dedup where id like 'old%'").pluck().get();
    expect(left).toBe(0);
  });
});

describe("the write lock in other hands", () => {
  it("makes a call throw dedup_busy when its time is over, and never guess", async () => {
    const [db, other] = [file.open(), file.open()];
    const adapter = sqliteDedup({ db, waitMs: 40 });
    await adapter.record("before", DAY_S);
    other.exec("begin immediate");
    await expect(adapter.record("evt_1", DAY_S)).rejects.toMatchObject({ code: "dedup_busy" });
    other.exec("commit");
    expect(await adapter.record("evt_1", DAY_S)).toEqual({ duplicate: false });
  });

  it("makes a call inside the host's transaction throw dedup_busy, with the cure", async () => {
    const [db, other] = [file.open(), file.open()];
    await migrate(db);
    db.pragma("busy_timeout = 0");
    const adapter = sqliteDedup({ db });
    other.exec("begin immediate");
    db.exec("begin");
    expect(() => adapter.record("evt_1", DAY_S)).toThrow(expect.objectContaining({ code: "dedup_busy" }));
    expect(() => adapter.record("evt_1", DAY_S)).toThrow(/Roll back.*begin immediate/);
    db.exec("rollback");
    other.exec("rollback");
  });
});

describe("what cannot work", () => {
  it.each([
    [{ waitMs: -1 }, /waitMs is -1; expected milliseconds/],
    [{ waitMs: Number.NaN }, /waitMs is NaN/],
    [{ waitMs: 3e9 }, /waitMs is 3000000000/],
    [{ durability: "fast" as "strict" }, /durability is fast; expected one of set, strict, as_is/],
  ])("is refused when it is made: %o", (options, message) => {
    expect(() => sqliteDedup({ db: file.open(), ...options })).toThrow(message);
  });

  it("is a synchronous record outside a transaction", () => {
    const adapter = sqliteDedup({ db: file.open() });
    expect(() => adapter.recordInTransaction("a", DAY_S)).toThrow(
      expect.objectContaining({ code: "store_transaction_required" }),
    );
  });

  it("is a ttl of nothing", () => {
    expect(() => sqliteDedup({ db: file.open() }).record("a", 0)).toThrow(/ttl is 0/);
  });

  it("is a handle that was closed", async () => {
    const db = file.open();
    const adapter = sqliteDedup({ db });
    db.close();
    await expect(adapter.record("a", DAY_S)).rejects.toMatchObject({ code: "store_unavailable" });
  });
});
