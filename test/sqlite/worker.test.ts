import Database from "better-sqlite3";
import { createReceiver, createSigner, createWorker, signSync, standardWebhooks } from "posthorn";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { expect, it } from "vitest";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const KEYS = 10;
const EACH = 20;

it("stored events on SQLite have one effect each, in order per key, though handlers fail before and in their transaction", async () => {
  const db = new Database(":memory:");
  await migrate(db);
  db.exec("create table effect (n integer primary key autoincrement, key text, number int)");
  const store = sqliteStore({ db, durability: "as_is" });
  const receiver = createReceiver({
    mode: "store_first",
    store,
    sources: { shop: { verifier: standardWebhooks({ secrets: SECRET }), key: { json: "/key" } } },
  });
  const failed = new Set<string>();
  const failsOnce = (name: string): void => {
    if (failed.has(name)) return;
    failed.add(name);
    throw new Error("fails once");
  };
  const worker = createWorker({
    store,
    retry: { waitsMs: Array.from({ length: 20 }, () => 10) },
    pollMs: 20,
    observer: () => undefined,
    handlers: {
      "order.paid": async (event) => {
        const { key, number } = event.data as { readonly key: string; readonly number: number };
        await new Promise((resolve) => setImmediate(resolve));
        if (number % 7 === 2) failsOnce(`outer ${event.id}`);
        return (tx) => {
          tx.prepare("insert into effect (key, number) values (?, ?)").run(key, number);
          // After the write, so that a missing rollback shows.
          if (number % 7 === 3) failsOnce(`inner ${event.id}`);
        };
      },
    },
  });
  const post = async (key: string, number: number): Promise<string | undefined> => {
    const body = new TextEncoder().encode(JSON.stringify({ type: "order.paid", key, number }));
    const headers = signSync(createSigner({ secrets: SECRET }), { id: `evt_${key}_${number}`, body });
    return (await receiver.receive("shop", { headers, body })).verdict;
  };
  await worker.start();
  for (let number = 0; number < EACH; number++) {
    const posts = Array.from({ length: KEYS }, (_, key) => [
      post(`k${key}`, number),
      post(`k${key}`, number),
    ]);
    const verdicts = await Promise.all(posts.flat());
    expect(verdicts.filter((verdict) => verdict === "stored")).toHaveLength(KEYS);
  }
  const count = (): unknown => db.prepare("select count(*) as count from effect").pluck().get();
  await expect.poll(count, { timeout: 20_000 }).toBe(KEYS * EACH);
  await worker.stop();
  const told = db
    .prepare(
      "select key, group_concat(number, ' ') as told from (select * from effect order by n) group by key",
    )
    .all() as { told: string }[];
  const inOrder = Array.from({ length: EACH }, (_, number) => number).join(" ");
  expect(told.map((row) => row.told)).toEqual(Array.from({ length: KEYS }, () => inOrder));
  db.close();
});

it("the outer part of a handler on SQLite is not run for an event that was applied before", async () => {
  const db = new Database(":memory:");
  await migrate(db);
  const store = sqliteStore({ db, durability: "as_is" });
  const sources = { shop: { verifier: standardWebhooks({ secrets: SECRET }), key: { json: "/key" } } };
  const inRequest = createReceiver({ store, sources, handlers: { "*": () => () => undefined } });
  const stored = createReceiver({ mode: "store_first", store, sources });
  const signed = (id: string) => {
    const body = new TextEncoder().encode(JSON.stringify({ type: "order.paid", key: "k" }));
    return { headers: signSync(createSigner({ secrets: SECRET }), { id, body }), body };
  };
  expect((await inRequest.receive("shop", signed("evt_2"))).verdict).toBe("applied");
  for (const id of ["evt_1", "evt_2", "evt_3"]) await stored.receive("shop", signed(id));
  const ran: string[] = [];
  const each = createWorker({
    store,
    handlers: {
      "*": ({ id }) => {
        ran.push(id);
        return () => void ran.push(`inner ${id}`);
      },
    },
  });
  expect(await each.drain()).toEqual({ handled: 3, failed: 0, more: false });
  expect(ran).toEqual(["evt_1", "inner evt_1", "evt_3", "inner evt_3"]);
  db.close();
});

it("a batch on SQLite is not given an event that was applied before", async () => {
  const db = new Database(":memory:");
  await migrate(db);
  const store = sqliteStore({ db, durability: "as_is" });
  const sources = { shop: { verifier: standardWebhooks({ secrets: SECRET }), key: { json: "/key" } } };
  const inRequest = createReceiver({ store, sources, handlers: { "*": () => () => undefined } });
  const stored = createReceiver({ mode: "store_first", store, sources });
  const signed = (id: string) => {
    const body = new TextEncoder().encode(JSON.stringify({ type: "order.paid", key: "k" }));
    return { headers: signSync(createSigner({ secrets: SECRET }), { id, body }), body };
  };
  await inRequest.receive("shop", signed("evt_3"));
  for (let n = 1; n <= 5; n++) await stored.receive("shop", signed(`evt_${n}`));
  const given: string[] = [];
  const batch = (events: readonly { readonly id: string }[]) => {
    given.push(events.map(({ id }) => id).join(" "));
    return () => undefined;
  };
  const worker = createWorker({ store, handlers: { "*": { by: "key", max: 10, batch } } });
  expect(await worker.drain()).toEqual({ handled: 5, failed: 0, more: false });
  expect(given).toEqual(["evt_1 evt_2", "evt_4 evt_5"]);
  db.close();
});
