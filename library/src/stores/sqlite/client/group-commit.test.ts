import Database from "better-sqlite3";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../clock.js";
import type { Connection } from "./connection.js";
import { connectionOf, look } from "./connection.js";
import { sqliteDedup } from "../dedup/dedup.js";
import { GroupCommit } from "./group-commit.js";
import { HostHandles } from "./host-handle.js";
import { migrate } from "../schema/migrate.js";

let folder: string;
let db: Database.Database;
let other: Database.Database;
let connection: Connection;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "posthorn-group-"));
  db = new Database(join(folder, "test.db"));
  other = new Database(join(folder, "test.db"));
  connection = connectionOf(db);
  await migrate(db);
  db.exec("create table mark (name text not null check (name <> 'forbidden'))");
  db.exec("create table parent (id integer primary key)");
  db.exec("create table child (id integer references parent (id) deferrable initially deferred)");
});
afterEach(() => {
  db.close();
  other.close();
  rmSync(folder, { recursive: true });
});

const write = (name: string): void => void db.prepare("insert into mark (name) values (?)").run(name);
const written = (): unknown[] => other.prepare("select name from mark order by name").pluck().all();
const looked = () => look(connection.client, () => db.prepare("select name from mark").pluck().all());
const commits = countedBy("commit");
const begins = countedBy("begin immediate");

/** Counts how often the handle was told a statement. */
function countedBy(statement: string): () => () => number {
  return () => {
    let count = 0;
    const exec = db.exec.bind(db);
    db.exec = (sql) => {
      if (sql === statement) count++;
      return exec(sql);
    };
    return () => count;
  };
}

// On a busy machine a group of three may take longer than a group is given, and be two.
const PATIENT = { ...systemClock, monotonic: () => 0 };

const patientGroup = (): GroupCommit =>
  new GroupCommit({ ...connection, clock: PATIENT, guarded: true, random: () => 0 });

interface JoinOptions {
  readonly waitMs?: number;
  readonly guarded?: boolean;
  readonly undoesAll?: boolean;
  readonly group?: GroupCommit;
}

function joined<T>(run: () => T, options: JoinOptions = {}): Promise<T | "expired"> {
  const { waitMs = 5000, guarded = true, undoesAll = false } = options;
  const { group = guarded ? connection.handlers : connection.statements } = options;
  return group.join<T | "expired">({ run, undoable: true, undoesAll, waitMs, expired: () => "expired" });
}

const failing =
  (name: string, after: () => void = () => undefined) =>
  () => {
    write(name);
    after();
    throw new Error(name);
  };

const slow = (): void => {
  const endsAt = performance.now() + 20;
  while (performance.now() < endsAt) write("busy");
};

const rollingBack = (): unknown =>
  db.prepare("insert or rollback into mark (name) values ('forbidden')").run();

const swallowing = (): string => {
  try {
    rollingBack();
  } catch {
    return "all is well";
  }
  return "no error";
};

describe("callers of one moment", () => {
  it("share one transaction, and each learns its own result", async () => {
    const count = commits();
    const group = patientGroup();
    const values = await Promise.all([1, 2, 3].map((n) => joined(() => (write(`m${n}`), n), { group })));
    expect([values, written(), count()]).toEqual([[1, 2, 3], ["m1", "m2", "m3"], 1]);
  });

  it("share what they have read only as far as all before them wrote together with them", async () => {
    const group = patientGroup();
    const seen = (undoesAll: boolean): Promise<number | "expired"> =>
      joined(() => connection.client.stretch, { group, undoesAll });
    const [first, second, alone, third, fourth] = await Promise.all([
      seen(true),
      seen(true),
      seen(false),
      seen(true),
      seen(true),
    ]);
    expect([second, alone, fourth]).toEqual([first, first, third]);
    expect(third).not.toBe(first);
    expect(await seen(true)).not.toBe(third);
  });

  it("learn nothing before the commit", async () => {
    let known = false;
    const first = joined(() => write("a")).then(() => (known = true));
    await joined(() => expect(known).toBe(false));
    await first;
    expect(known).toBe(true);
  });

  it("are spread over several transactions when they are many", async () => {
    const count = commits();
    await Promise.all(Array.from({ length: 450 }, (_, n) => joined(() => write(`m${n}`))));
    expect(written()).toHaveLength(450);
    expect(count()).toBeGreaterThanOrEqual(3);
  });

  it.each([
    { more: 3, transactions: 2, what: "do not wait for a few that come in the next turn of the event loop" },
    { more: 8, transactions: 1, what: "wait for many that come in the next turn, to share their commit" },
  ])("$what", async ({ more, transactions }) => {
    const count = commits();
    const group = patientGroup();
    const few: Promise<unknown>[] = [];
    const all = new Promise<unknown>((resolve) => {
      // Before the look of the group that the first one makes: what it finds came within one turn.
      setImmediate(() => {
        for (let n = 0; n < more; n++) few.push(joined(() => write(`m${n}`), { group }));
        // And one that comes a turn later.
        setImmediate(() => resolve(Promise.all([...few, joined(() => write("last"), { group })])));
      });
    });
    await Promise.all([joined(() => write("first"), { group }), all]);
    expect([written(), count()]).toEqual([expect.arrayContaining(["first", "last"]), transactions]);
  });

  it("give the event loop a turn when one of them is slow", async () => {
    const count = commits();
    await Promise.all([slow, slow, () => write("last")].map((run) => joined(run)));
    expect(count()).toBe(3);
  });
});

describe("one that fails", () => {
  it("is undone alone, and its neighbours are committed", async () => {
    const [before, failed, after] = await Promise.allSettled([
      joined(() => write("before")),
      joined(failing("undone")),
      joined(() => write("after")),
    ]);
    expect([before.status, after.status]).toEqual(["fulfilled", "fulfilled"]);
    expect(failed).toMatchObject({ reason: { message: "undone" } });
    expect(written()).toEqual(["after", "before"]);
  });

  it("is undone alone in the end when it undoes all: its neighbours run again, and are committed once", async () => {
    const together = { guarded: false, undoesAll: true };
    const [before, failed, after] = await Promise.allSettled([
      joined(() => write("before"), together),
      joined(failing("undone"), together),
      joined(() => write("after"), together),
    ]);
    expect([before.status, after.status]).toEqual(["fulfilled", "fulfilled"]);
    expect(failed).toMatchObject({ reason: { message: "undone" } });
    expect([written(), db.inTransaction]).toEqual([["after", "before"], false]);
  });

  it("is undone alone when SQLite refuses what it wrote only at the commit", async () => {
    const orphan = () => db.prepare("insert into child values (7)").run();
    const [before, failed, after] = await Promise.allSettled(
      [() => write("before"), orphan, () => write("after")].map((run) => joined(run)),
    );
    expect([before?.status, after?.status]).toEqual(["fulfilled", "fulfilled"]);
    expect(failed).toMatchObject({ reason: { code: "SQLITE_CONSTRAINT_FOREIGNKEY" } });
    expect(written()).toEqual(["after", "before"]);
    expect(db.prepare("select count(*) from child").pluck().get()).toBe(0);
  });

  it("cannot commit: SQLite refuses, and the group goes on", async () => {
    const settled = await Promise.allSettled(
      [() => write("before"), failing("undone", () => db.exec("commit")), () => write("after")].map((run) =>
        joined(run),
      ),
    );
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect([written(), db.inTransaction]).toEqual([["after", "before"], false]);
  });

  it.each([
    ["rollback", true],
    ["rollback; begin", true],
    ["release posthorn_part", true],
    ["commit", false],
    ["commit; begin", false],
  ])("is told so when it ran %s, and its neighbours are committed", async (sql, foreignKeys) => {
    db.pragma(`foreign_keys = ${foreignKeys ? "on" : "off"}`);
    const runs = [() => write("before"), () => void db.exec(sql), () => write("after")];
    const settled = await Promise.allSettled(runs.map((run) => joined(run)));
    expect(settled[1]).toMatchObject({ reason: { code: "store_transaction_aborted" } });
    expect([settled[0]?.status, settled[2]?.status]).toEqual(["fulfilled", "fulfilled"]);
    expect(db.inTransaction).toBe(false);
    expect(new Set(written())).toEqual(new Set(["before", "after"]));
  });

  it("is told its own error when that error made SQLite end the transaction", async () => {
    const settled = await Promise.allSettled(
      [() => write("before"), rollingBack, () => write("after")].map((run) => joined(run)),
    );
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(settled[1]).toMatchObject({ reason: { code: "SQLITE_CONSTRAINT_CHECK" } });
    expect(written()).toEqual(["after", "before"]);
  });

  it("is noticed although it swallowed the error that ended the transaction", async () => {
    await expect(joined(swallowing)).rejects.toMatchObject({ code: "store_transaction_aborted" });
  });
});

describe("one that leaves a query open", () => {
  let rows: IterableIterator<unknown> | undefined;
  const leaving = (): void => {
    write("undone");
    rows = db.prepare("select id from parent").iterate();
    rows.next();
  };
  const left = async (): Promise<void> => {
    await expect(joined(leaving)).rejects.toMatchObject({ code: "store_transaction_aborted" });
  };
  const close = (): void => void rows?.return?.();
  beforeEach(() => void db.exec("insert into parent values (1), (2)"));

  it("fails, holds up the others until it is closed, and costs the host no setting", async () => {
    db.pragma("busy_timeout = 4321");
    const group = patientGroup();
    const neighbour = joined(() => write("before"), { group });
    await expect(joined(leaving, { group })).rejects.toMatchObject({ code: "store_transaction_aborted" });
    close();
    await neighbour;
    expect([written(), db.inTransaction]).toEqual([["before"], false]);
    expect(db.pragma("busy_timeout", { simple: true })).toBe(4321);
  });

  it("holds up our own statements no longer than it is open, though no handler runs again", async () => {
    await left();
    const ours = joined(() => write("ours"), { guarded: false, waitMs: 1000 });
    close();
    expect(await ours).toBeUndefined();
    expect(written()).toEqual(["ours"]);
  });

  it("costs a host that writes later nothing, though nobody calls us again", async () => {
    await left();
    close();
    await expect.poll(() => db.inTransaction).toBe(false);
    write("host");
    expect(written()).toEqual(["host"]);
  });

  it("is not read before its writes are taken back", async () => {
    await left();
    await expect(looked()).rejects.toMatchObject({ code: "store_unavailable" });
    close();
    expect(await looked()).toEqual([]);
  });

  it("is no transaction of the host, in which it could publish or recognise an id", async () => {
    const own = new HostHandles(connection.client);
    const adapter = sqliteDedup({ db });
    await left();
    for (const joining of [() => own.inTransaction(db), () => adapter.recordInTransaction("evt_1", 60)])
      expect(joining).toThrow(expect.objectContaining({ code: "store_unavailable" }));
    const first = adapter.record("evt_1", 60);
    close();
    expect([await first, await adapter.record("evt_1", 60)]).toEqual([
      { duplicate: false },
      { duplicate: true },
    ]);
  });
});

describe("a transaction of the host on the same handle", () => {
  it("is not joined: its rollback takes nothing of ours", async () => {
    db.exec("begin");
    write("host");
    const ours = joined(() => write("ours"));
    await systemClock.sleep(20);
    expect(db.inTransaction).toBe(true);
    db.exec("rollback");
    await ours;
    expect(written()).toEqual(["ours"]);
  });

  it("that never ends is waited for no longer than was asked", async () => {
    db.exec("begin");
    expect(await joined(() => write("ours"), { waitMs: 30 })).toBe("expired");
    db.exec("rollback");
    await joined(() => write("next"));
    expect(written()).toEqual(["next"]);
  });

  it("is not begun by us while the host reads with an iterator", async () => {
    write("row");
    const rows = db.prepare("select name from mark").iterate();
    rows.next();
    const ours = joined(() => write("ours"));
    await systemClock.sleep(20);
    rows.return?.();
    await ours;
    expect(written()).toEqual(["ours", "row"]);
  });
});

describe("another connection that holds the write lock", () => {
  it("is waited for without holding up the event loop", async () => {
    const count = begins();
    other.exec("begin immediate");
    const ours = joined(() => write("ours"));
    // Turns that the loop would not get from a handle that waits its own five seconds.
    for (let turn = 0; turn < 20 || count() < 3; turn++) await systemClock.sleep(1);
    other.exec("commit");
    await ours;
    expect(written()).toEqual(["ours"]);
  });

  it("is waited for no longer than each caller asked", async () => {
    other.exec("begin immediate");
    const settled = Promise.all([
      joined(() => write("hasty"), { waitMs: 20 }),
      joined(() => write("patient"), { waitMs: 5000 }),
    ]);
    await systemClock.sleep(100);
    other.exec("commit");
    expect(await settled).toEqual(["expired", undefined]);
    expect(written()).toEqual(["patient"]);
  });

  it("leaves the handle's own wait for locks as the host set it", async () => {
    db.pragma("busy_timeout = 4321");
    await joined(() => write("a"));
    expect(db.pragma("busy_timeout", { simple: true })).toBe(4321);
  });
});

it("a handle that is closed is told to every caller", async () => {
  const waiting = [joined(() => write("a")), joined(() => write("b"))];
  db.close();
  const settled = await Promise.allSettled(waiting);
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});
