import Database from "better-sqlite3";
import { createReceiver, createSigner, createWorker, signSync, standardWebhooks } from "posthorn";
import { migrate, sqliteStore } from "posthorn/sqlite";
import type { Receiver } from "posthorn";
import { expect, it } from "vitest";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

const write =
  ({ data }: { data: { sku: string; version: string } }) =>
  (tx: Database.Database) => {
    tx.prepare("insert or replace into stock values (?, ?)").run(data.sku, BigInt(data.version));
  };

it("a reordered and repeated stream ends in its newest state on SQLite, in the request and in a worker", async () => {
  const db = new Database(":memory:");
  await migrate(db);
  db.exec("create table stock (sku text primary key, version integer)");
  const store = sqliteStore({ db, durability: "as_is" });
  const sources = { shop: standardWebhooks({ secrets: SECRET }) };
  const order = {
    policy: "drop_stale",
    resource: ({ data }: { data: { sku: string } }) => data.sku,
    version: ({ data }: { data: { version: string } }) => BigInt(data.version),
  } as const;
  const direct = createReceiver({
    store,
    sources,
    handlers: {
      "*":
        (event: { data: { sku: string; version: string } }) =>
        (tx, { newest }) => {
          const isNewest: boolean = newest(event.data.sku, BigInt(event.data.version));
          if (isNewest) write(event)(tx);
        },
    },
  });
  const storing = createReceiver({ mode: "store_first", store, sources });
  const worker = createWorker({ store, handlers: { "*": write }, order, observer: () => undefined });
  const large = 2n ** 62n;
  const post = async (receiver: Receiver, id: string, version: bigint) => {
    const event = { type: "stock.changed", sku: "a", version: String(version) };
    const body = new TextEncoder().encode(JSON.stringify(event));
    const headers = signSync(createSigner({ secrets: SECRET }), { id, body });
    return (await receiver.receive("shop", { headers, body })).verdict;
  };
  const verdicts = [];
  for (const n of [2n, 1n, 2n]) verdicts.push(await post(direct, `direct_${verdicts.length}`, large + n));
  expect(verdicts).toEqual(["applied", "dropped", "dropped"]);
  for (const [at, n] of [5n, 4n, 3n, 6n, 6n].entries()) await post(storing, `stored_${at}`, large + n);
  expect(await worker.drain()).toMatchObject({ handled: 5, failed: 0 });
  const stock = db.prepare("select version from stock").safeIntegers().pluck().get();
  expect(stock).toBe(large + 6n);
  const outcomes = db
    .prepare("select outcome, count(*) from posthorn_inbox group by 1 order by 1")
    .raw()
    .all();
  expect(outcomes).toEqual([
    ["dropped", 5],
    ["success", 3],
  ]);
  db.close();
});
