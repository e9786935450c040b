import Database from "better-sqlite3";
import { createReceiver, createSigner, createWorker, signSync, standardWebhooks } from "posthorn";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { expect, it } from "vitest";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const EVENTS = 60;

it("a batch on SQLite gets its events in one outer call, writes them in one inner one, and leaves out what was applied before", async () => {
  const db = new Database(":memory:");
  await migrate(db);
  db.exec("create table effect (n integer primary key autoincrement, number int, size int)");
  const store = sqliteStore({ db, durability: "as_is" });
  const sources = { shop: { verifier: standardWebhooks({ secrets: SECRET }), key: { json: "/key" } } };
  const receiver = createReceiver({ mode: "store_first", store, sources });
  const inRequest = createReceiver({
    store,
    sources,
    handlers: {
      "*": () => (tx) => void tx.prepare("insert into effect (number, size) values (40, 0)").run(),
    },
  });
  const signed = (number: number) => {
    const body = new TextEncoder().encode(JSON.stringify({ type: "read", key: "k", number }));
    return { headers: signSync(createSigner({ secrets: SECRET }), { id: `evt_${number}`, body }), body };
  };
  expect((await inRequest.receive("shop", signed(40))).verdict).toBe("applied");
  for (let number = 0; number < EVENTS; number++) await receiver.receive("shop", signed(number));
  const failed = new Set<string>();
  const failsOnce = (name: string): void => {
    if (failed.has(name)) return;
    failed.add(name);
    throw new Error("fails once");
  };
  const worker = createWorker({
    store,
    retry: { waitsMs: Array.from({ length: 20 }, () => 0) },
    observer: () => undefined,
    handlers: {
      read: {
        by: "key",
        max: 20,
        batch: async (events) => {
          await new Promise((resolve) => setImmediate(resolve));
          const numbers = events.map(({ data }) => (data as { readonly number: number }).number);
          return (tx) => {
            const insert = tx.prepare("insert into effect (number, size) values (?, ?)");
            for (const number of numbers) insert.run(number, numbers.length);
            // After the writes, so that a missing rollback shows.
            if (numbers.includes(25)) failsOnce(`${numbers.length}`);
          };
        },
      },
    },
  });
  await expect.poll(async () => (await worker.drain(), count()), { timeout: 20_000 }).toBe(EVENTS);
  const rows = db.prepare("select number, size from effect order by n").all() as {
    readonly number: number;
    readonly size: number;
  }[];
  const others = Array.from({ length: EVENTS }, (_, number) => number).filter((number) => number !== 40);
  expect(rows.map(({ number }) => number)).toEqual([40, ...others]);
  expect(Math.max(...rows.map(({ size }) => size))).toBe(20);
  db.close();

  function count(): unknown {
    return db.prepare("select count(*) as count from effect").pluck().get();
  }
});
