import type { Database } from "better-sqlite3";
import { createHash } from "node:crypto";
import { migrate, sqliteDedup, sqliteStore } from "posthorn/sqlite";
import { createFakeClock } from "posthorn/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Arrival, Handled } from "../../library/src/inbox/inbox-store.js";
import type { Signal } from "../../library/src/observer.js";
import { MIGRATIONS } from "../../library/src/stores/sqlite/schema/migrations.js";
import type { DatabaseFile } from "./database-file.js";
import { createDatabaseFile } from "./database-file.js";

let file: DatabaseFile;
let db: Database;
beforeEach(async () => {
  file = createDatabaseFile();
  db = file.open();
  await migrate(db);
  db.exec("create table effect (mark text not null)");
});
afterEach(() => file.remove());

const SUCCESS: Handled = { outcome: "success" };
const limits = () => ({ acquireMs: 5000, signal: new AbortController().signal });

function arrival(id: string, body = Buffer.from(id), windowS: number | undefined = 3600): Arrival {
  return {
    tenant: "default",
    source: "stripe",
    id,
    idPreview: undefined,
    type: "invoice.paid",
    eventAt: undefined,
    body,
    bodyHash: createHash("sha256").update(body).digest(),
    headers: "{}",
    windowS,
  };
}

const writes = (mark: string) => (tx: Database) => {
  tx.prepare("insert into effect (mark) values (?)").run(mark);
  return SUCCESS;
};
const effects = () => file.open().prepare("select mark from effect order by mark").pluck().all();
const known = () =>
  file.open().prepare("select event_id, outcome from posthorn_inbox order by event_id").raw().all();

const nested = (tx: Database) => {
  tx.transaction(() => writes("kept")(tx))();
  expect(() =>
    tx.transaction(() => {
      writes("undone")(tx);
      throw new Error("no");
    })(),
  ).toThrow("no");
  return SUCCESS;
};

const orphan = (tx: Database) => (tx.prepare("insert into child values (1)").run(), SUCCESS);

const withSavepoints = (tx: Database) => {
  tx.exec("savepoint mine");
  writes("undone")(tx);
  tx.exec("rollback to mine; release mine");
  tx.transaction(() => writes("a")(tx))();
  expect([tx.inTransaction, tx.open, tx.pragma("user_version", { simple: true })]).toEqual([true, true, 0]);
  return SUCCESS;
};

describe("a group of events", () => {
  it("applies the neighbours of a handler that throws, and nothing of the one that threw", async () => {
    const store = sqliteStore({ db });
    const kinds = await Promise.all(
      ["a", "b", "c"].map(async (id) => {
        const work = (tx: Database) => {
          writes(id)(tx);
          if (id === "b") throw new Error("no");
          return SUCCESS;
        };
        return (await store.accept(arrival(id), work, limits())).kind;
      }),
    );
    expect(kinds).toEqual(["applied", "failed", "applied"]);
    expect(effects()).toEqual(["a", "c"]);
    expect(known()).toEqual([
      ["a", "success"],
      ["c", "success"],
    ]);
  });

  it.each([
    ["rollback", true, "applied"],
    ["rollback; begin", true, "applied"],
    ["commit", true, "applied"],
    // Without foreign keys nothing can refuse the commit: the neighbour was applied by it, once.
    ["commit", false, "duplicate"],
    ["commit; begin", false, "duplicate"],
  ])(
    "has one effect each beside a handler that runs %s on the host's own handle (foreign keys: %s)",
    async (sql, foreignKeys, before) => {
      db.pragma(`foreign_keys = ${foreignKeys ? "on" : "off"}`);
      const store = sqliteStore({ db });
      const ending = () => {
        db.exec(sql);
        return SUCCESS;
      };
      const accepted = await Promise.all([
        store.accept(arrival("a"), writes("a"), limits()),
        store.accept(arrival("b"), ending, limits()),
        store.accept(arrival("c"), writes("c"), limits()),
      ]);
      expect(accepted.map(({ kind }) => kind)).toEqual([before, "failed", "applied"]);
      expect([effects(), db.inTransaction]).toEqual([["a", "c"], false]);
    },
  );

  it("sees none of its own rows before the commit, not even from a handler", async () => {
    const store = sqliteStore({ db });
    let looked: Promise<unknown> = Promise.resolve();
    await store.accept(
      arrival("a"),
      (tx) => {
        looked = store.find(arrival("a"));
        writes("a")(tx);
        throw new Error("no");
      },
      limits(),
    );
    expect(await looked).toBeUndefined();
  });
});

describe("a handler", () => {
  it.each(["begin", "commit", "rollback", "rollback; begin", "end", "/* */ ROLLBACK;"])(
    "that runs %j on its transaction is refused by name, and fails even if it goes on",
    async (sql) => {
      db.pragma("foreign_keys = off");
      const store = sqliteStore({ db });
      for (const run of [(tx: Database) => tx.exec(sql), (tx: Database) => tx.prepare(sql).run()]) {
        const accepted = await store.accept(
          arrival("a"),
          (tx) => {
            writes("a")(tx);
            expect(() => run(tx)).toThrow(expect.objectContaining({ code: "store_transaction_owned" }));
            writes("a")(tx);
            return SUCCESS;
          },
          limits(),
        );
        expect(accepted).toMatchObject({ kind: "failed", error: { code: "store_transaction_owned" } });
        expect([effects(), db.inTransaction]).toEqual([[], false]);
      }
      expect((await store.accept(arrival("a"), writes("a"), limits())).kind).toBe("applied");
      expect(effects()).toEqual(["a"]);
    },
  );

  it("may use savepoints, transactions of better-sqlite3, and every other method of its handle", async () => {
    const store = sqliteStore({ db });
    expect(await store.accept(arrival("a"), withSavepoints, limits())).toMatchObject({ kind: "applied" });
    expect(effects()).toEqual(["a"]);
  });

  it("that keeps its transaction is refused after its end, instead of writing outside of it", async () => {
    const store = sqliteStore({ db });
    let kept: Database | undefined;
    await store.accept(arrival("a"), (tx) => ((kept = tx), SUCCESS), limits());
    expect(() => kept?.exec("insert into effect values ('late')")).toThrow(
      expect.objectContaining({ code: "store_transaction_finished" }),
    );
    expect(effects()).toEqual([]);
  });

  it("that returns a promise is rolled back and told so, and its rejection harms nobody", async () => {
    const store = sqliteStore({ db });
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    const accepted = await store.accept(
      arrival("a"),
      async (tx) => {
        writes("a")(tx);
        await Promise.resolve();
        throw new Error("after the await");
      },
      limits(),
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off("unhandledRejection", note);
    expect(accepted).toMatchObject({ kind: "failed", error: { code: "handler_returned_promise" } });
    expect([effects(), known(), unhandled]).toEqual([[], [], []]);
  });

  it("may use transactions of better-sqlite3, which become part of its own", async () => {
    const store = sqliteStore({ db });
    expect(await store.accept(arrival("a"), nested, limits())).toMatchObject({ kind: "applied" });
    expect(effects()).toEqual(["kept"]);
  });

  it("that uses sqliteDedup on the same handle records in its own transaction", async () => {
    const store = sqliteStore({ db });
    const adapter = sqliteDedup({ db });
    const failing = (): never => {
      expect(adapter.recordInTransaction("step", 60)).toEqual({ duplicate: false });
      throw new Error("no");
    };
    await store.accept(arrival("a"), failing, limits());
    expect(await adapter.record("step", 60)).toEqual({ duplicate: false });
  });

  it("is not begun after its deadline", async () => {
    const store = sqliteStore({ db });
    const late = new Error("late");
    const signal = AbortSignal.abort(late);
    const accepted = await store.accept(arrival("a"), writes("a"), { acquireMs: 100, signal });
    expect(accepted).toEqual({ kind: "failed", error: late });
    expect([effects(), known()]).toEqual([[], []]);
  });

  it("whose deferred constraint fails at the commit fails alone", async () => {
    db.exec("create table parent (id integer primary key)");
    db.exec("create table child (id integer references parent (id) deferrable initially deferred)");
    const store = sqliteStore({ db });
    const accepted = await Promise.all([
      store.accept(arrival("a"), writes("a"), limits()),
      store.accept(arrival("b"), orphan, limits()),
    ]);
    expect(accepted.map(({ kind }) => kind)).toEqual(["applied", "failed"]);
    expect(known()).toEqual([["a", "success"]]);
  });
});

describe("the host", () => {
  it("may write on its handle between events", async () => {
    const store = sqliteStore({ db });
    const host = async (): Promise<void> => {
      for (let n = 0; n < 20; n++) {
        db.prepare("insert into effect (mark) values ('host')").run();
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const accepts = Array.from({ length: 50 }, (_, n) =>
      store.accept(arrival(`e${n}`), writes("event"), limits()),
    );
    await Promise.all([host(), ...accepts]);
    expect(effects()).toEqual([...Array<string>(50).fill("event"), ...Array<string>(20).fill("host")]);
  });

  it("that holds a transaction on the handle across an await gets none of our rows into it", async () => {
    const store = sqliteStore({ db });
    db.exec("begin");
    db.prepare("insert into effect (mark) values ('host')").run();
    const accepted = store.accept(arrival("a"), writes("a"), limits());
    await new Promise((resolve) => setTimeout(resolve, 20));
    db.exec("rollback");
    expect(await accepted).toMatchObject({ kind: "applied" });
    expect(effects()).toEqual(["a"]);
  });

  it("is told saturated when the write lock is not to be had in time, and nothing has run", async () => {
    const store = sqliteStore({ db });
    const other = file.open();
    other.exec("begin immediate");
    const accepted = await store.accept(arrival("a"), writes("a"), { ...limits(), acquireMs: 30 });
    other.exec("rollback");
    expect([accepted, effects()]).toEqual([{ kind: "saturated" }, []]);
  });

  it("that forgot to migrate is told the command", async () => {
    const empty = createDatabaseFile();
    const store = sqliteStore({ db: empty.open() });
    const refused = {
      code: "store_not_migrated",
      message: expect.stringContaining("await migrate(db)") as string,
    };
    await expect(store.accept(arrival("a"), () => SUCCESS, limits())).rejects.toMatchObject(refused);
    await expect(store.find(arrival("a"))).rejects.toMatchObject(refused);
    await expect(store.fail(arrival("a"), "no")).rejects.toMatchObject(refused);
    empty.remove();
  });
});

describe("what is kept", () => {
  it("of a failure is each attempt, and goes with the event", async () => {
    const clock = createFakeClock();
    const store = sqliteStore({ db, clock });
    const attempts = () =>
      db.prepare("select attempt, error from posthorn_inbox_attempt order by attempt").raw().all();
    await store.fail(arrival("a"), "first");
    await store.fail(arrival("a"), "second");
    expect(attempts()).toEqual([
      [1, "first"],
      [2, "second"],
    ]);
    await store.accept(arrival("a"), () => SUCCESS, limits());
    await clock.advance(3600_000);
    expect(await store.purge({ maxRows: 10, deadlineMs: 1000 })).toEqual({ removed: 1, more: false });
    expect(attempts()).toEqual([]);
  });

  it("of an event that failed is kept for ever, until a delivery of it is applied", async () => {
    const clock = createFakeClock();
    const store = sqliteStore({ db, clock });
    await store.fail(arrival("a"), "no");
    expect(await store.read(arrival("a"))).toMatchObject({ outcome: "failed", keepUntil: undefined });
    await clock.advance(3600_000);
    expect(await store.purge({ maxRows: 10, deadlineMs: 1000 })).toEqual({ removed: 0, more: false });
    await store.accept(arrival("a"), () => SUCCESS, limits());
    const keepUntil = new Date(clock.now() + 3600_000);
    expect(await store.read(arrival("a"))).toMatchObject({ outcome: "success", keepUntil });
  });

  it("of a conflict that is repeated is one row, which counts", async () => {
    const store = sqliteStore({ db, clock: createFakeClock() });
    for (let n = 0; n < 5; n++) await store.refuse({ ...arrival("a"), key: "k" }, "conflict");
    await store.refuse(arrival("a"), "stale");
    const { items } = await store.refusedEvents({}, { limit: 10 });
    expect(items.map(({ because, key }) => [because, key])).toEqual([
      ["conflict", "k"],
      ["stale", undefined],
    ]);
    const rows = db
      .prepare("select because, receipts from posthorn_inbox_refused order by because")
      .raw()
      .all();
    expect(rows).toEqual([
      ["conflict", 5],
      ["stale", 1],
    ]);
  });

  it("of refused events is purged when their window has passed", async () => {
    const clock = createFakeClock();
    const store = sqliteStore({ db, clock });
    await store.refuse(arrival("a"), "stale");
    await clock.advance(3600_000);
    expect(await store.purge({ maxRows: 10, deadlineMs: 1000 })).toEqual({ removed: 1, more: false });
  });

  it("of a duplicate is written by itself within a second or so, and before a purge", async () => {
    const clock = createFakeClock();
    const store = sqliteStore({ db, clock });
    await store.accept(arrival("a"), () => SUCCESS, limits());
    await clock.advance(1800_000);
    store.touch(arrival("a"));
    await clock.advance(1000);
    await expect.poll(async () => (await store.read(arrival("a")))?.receipts).toBe(2);
    await clock.advance(1800_000);
    store.touch(arrival("a"));
    await clock.advance(0);
    expect(await store.purge({ maxRows: 10, deadlineMs: 1000 })).toEqual({ removed: 0, more: false });
    expect((await store.read(arrival("a")))?.receipts).toBe(3);
  });

  it("of many events is purged in batches, and the rest is told", async () => {
    const clock = createFakeClock();
    const store = sqliteStore({ db, clock });
    await Promise.all(
      Array.from({ length: 250 }, (_, n) => store.accept(arrival(`e${n}`), () => SUCCESS, limits())),
    );
    await clock.advance(3600_000);
    expect(await store.purge({ maxRows: 220, deadlineMs: 1000 })).toEqual({ removed: 220, more: true });
    expect(await store.purge({ maxRows: 30, deadlineMs: 1000 })).toEqual({ removed: 30, more: false });
  });

  it("of a body of ten megabytes is every byte, NUL and all", async () => {
    const store = sqliteStore({ db });
    const body = Buffer.alloc(10 * 1024 * 1024, Buffer.from([0, 255, 0, 128, 10]));
    await store.accept(arrival("a", body), () => SUCCESS, limits());
    const row = await store.read(arrival("a"));
    expect(Buffer.compare(body, row?.body ?? new Uint8Array())).toBe(0);
    expect(row?.body?.constructor).toBe(Uint8Array);
  });
});

describe("what the store says of itself", () => {
  it("is durable and shared on a file, neither in memory", async () => {
    expect(sqliteStore({ db }).capabilities).toEqual({
      sharesHostTransaction: true,
      survivesPowerLoss: true,
      multiProcess: true,
      clock: "process",
    });
    const memory = new (await import("better-sqlite3")).default(":memory:");
    const signals: Signal[] = [];
    const { capabilities } = sqliteStore({ db: memory, observer: (signal) => void signals.push(signal) });
    expect(capabilities).toMatchObject({ survivesPowerLoss: false, multiProcess: false });
    expect(signals).toMatchObject([{ kind: "store_promise_lost", store: "sqliteStore" }]);
    memory.close();
  });

  it("is an alarm when a reader keeps the log from being emptied", async () => {
    const signals: Signal[] = [];
    const store = sqliteStore({ db, observer: (signal) => void signals.push(signal) });
    const reader = file.open();
    reader.exec("begin");
    reader.prepare("select count(*) from posthorn_inbox").get();
    db.pragma("synchronous = off");
    const body = Buffer.alloc(1024 * 1024);
    for (let n = 0; n < 130; n++)
      db.prepare("insert into effect (mark) values (?)").run(body.toString("latin1"));
    await store.purge({ maxRows: 1, deadlineMs: 1000 });
    expect(signals).toMatchObject([{ kind: "wal_growing", store: "sqliteStore" }]);
    reader.exec("commit");
    await store.purge({ maxRows: 1, deadlineMs: 1000 });
    expect(signals).toHaveLength(1);
  });
});

it("a database that a newer Posthorn has migrated is left alone, and told", async () => {
  const newer = MIGRATIONS.length + 1;
  db.prepare("insert into posthorn_migration (version, name, applied_at) values (?, 'x', 0)").run(newer);
  await expect(migrate(db)).rejects.toThrow(`version ${newer} of Posthorn's tables`);
});
