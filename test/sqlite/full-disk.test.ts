import type { Database } from "better-sqlite3";
import { createHash } from "node:crypto";
import { migrate, sqliteDedup, sqliteStore } from "posthorn/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Arrival, Handled } from "../../library/src/inbox/inbox-store.js";
import type { DatabaseFile } from "./database-file.js";
import { createDatabaseFile } from "./database-file.js";

// A page limit refuses with the same SQLITE_FULL as a disk without space.
const SPARE_PAGES = 20;
const MEGABYTE = 1024 * 1024;
const SUCCESS: Handled = { outcome: "success" };
const FULL = {
  code: "store_unavailable",
  message: expect.stringMatching(/SQLITE_FULL.*nothing was written or acknowledged/) as string,
};

let file: DatabaseFile;
let db: Database;
beforeEach(async () => {
  file = createDatabaseFile();
  db = file.open();
  await migrate(db);
  db.exec("create table effect (mark blob not null)");
});
afterEach(() => file.remove());

const limitPages = (spare: number) =>
  db.pragma(`max_page_count = ${Number(db.pragma("page_count", { simple: true })) + spare}`);
const limits = () => ({ acquireMs: 1000, signal: new AbortController().signal });

function arrival(id: string, bytes: number): Arrival {
  const body = Buffer.alloc(bytes, id);
  const bodyHash = createHash("sha256").update(body).digest();
  const rest = { idPreview: undefined, type: "t", eventAt: undefined, headers: "{}", windowS: 3600 };
  return { tenant: "default", source: "stripe", id, body, bodyHash, ...rest };
}

const greedy = (tx: Database): Handled => {
  const insert = tx.prepare("insert into effect (mark) values (?)");
  for (let n = 0; n < 100; n++) insert.run(Buffer.alloc(4096));
  return SUCCESS;
};

describe("a full disk", () => {
  it("acknowledges nothing, still answers what is known, and works again when there is space", async () => {
    const store = sqliteStore({ db });
    const before = arrival("before", 10);
    await store.accept(before, () => SUCCESS, limits());
    limitPages(0);
    const large = arrival("large", MEGABYTE);
    await expect(store.accept(large, () => SUCCESS, limits())).rejects.toMatchObject(FULL);
    await expect(store.fail(large, "no")).rejects.toMatchObject(FULL);
    await expect(store.refuse(large, "stale")).rejects.toMatchObject(FULL);
    expect(await store.find(large)).toBeUndefined();
    expect(await store.find(before)).toMatchObject({ outcome: "success" });
    limitPages(1000);
    expect(await store.accept(large, () => SUCCESS, limits())).toEqual({ kind: "applied", attempt: 1 });
  });

  it("fails the event that does not fit, and applies its neighbours that do", async () => {
    const store = sqliteStore({ db });
    limitPages(SPARE_PAGES);
    const settled = await Promise.allSettled(
      [arrival("a", 10), arrival("large", MEGABYTE), arrival("b", 10)].map((each) =>
        store.accept(each, () => SUCCESS, limits()),
      ),
    );
    expect(settled).toMatchObject([
      { value: { kind: "applied" } },
      { reason: FULL },
      { value: { kind: "applied" } },
    ]);
  });

  it("that a handler meets fails that handler, and leaves no half of it", async () => {
    const store = sqliteStore({ db });
    limitPages(SPARE_PAGES);
    const [greedyOne, modest] = await Promise.all([
      store.accept(arrival("greedy", 10), greedy, limits()),
      store.accept(arrival("modest", 10), () => SUCCESS, limits()),
    ]);
    expect(greedyOne).toMatchObject({ kind: "failed", error: { code: "SQLITE_FULL" } });
    expect(modest).toMatchObject({ kind: "applied" });
    expect(db.prepare("select count(*) from effect").pluck().get()).toBe(0);
    expect(await store.find(arrival("greedy", 10))).toBeUndefined();
  });

  it("gives no dedup verdict, and the id is still new when there is space", async () => {
    const adapter = sqliteDedup({ db });
    limitPages(0);
    const calls = Array.from({ length: 400 }, (_, n) => Promise.resolve(adapter.record(`evt_${n}`, 60)));
    const settled = await Promise.allSettled(calls);
    const refused = settled.flatMap((each, n) => (each.status === "rejected" ? [{ n, each }] : []));
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.each).toMatchObject({ reason: FULL });
    limitPages(1000);
    for (const { n } of refused) expect(await adapter.record(`evt_${n}`, 60)).toEqual({ duplicate: false });
  });
});
