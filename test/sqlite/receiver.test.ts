import Database from "better-sqlite3";
import { createReceiver, createSigner, createWorker, signSync, standardWebhooks } from "posthorn";
import type { InnerHandler, Receiver } from "posthorn";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { expect, it } from "vitest";
import { inOrder, postArray, Seen } from "../array-request.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

async function setUp(
  handlers: Parameters<typeof receiverOn>[1],
): Promise<{ db: Database.Database; receiver: Receiver }> {
  const db = new Database(":memory:");
  await migrate(db);
  db.exec("create table effect (event_id text)");
  return { db, receiver: receiverOn(db, handlers) };
}

type Inner = InnerHandler<Database.Database>;

function receiverOn(
  db: Database.Database,
  handler: (event: { id: string }) => Inner | Promise<Inner>,
): Receiver {
  return createReceiver({
    store: sqliteStore({ db, durability: "as_is" }),
    sources: { acme: standardWebhooks({ secrets: SECRET }) },
    handlers: { "*": handler },
  });
}

async function post(receiver: Receiver, id: string): Promise<string> {
  const body = new TextEncoder().encode('{"type":"invoice.paid"}');
  const headers = signSync(createSigner({ secrets: SECRET }), { id, body });
  const reply = await receiver.receive("acme", { headers, body });
  return `${reply.status} ${reply.headers?.["posthorn-verdict"] ?? ""}`;
}

function effects(db: Database.Database): number {
  return (db.prepare("select count(*) as n from effect").get() as { n: number }).n;
}

it("the outer part may await, the inner part writes in the event's transaction, once", async () => {
  const { db, receiver } = await setUp(async ({ id }) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return () => db.prepare("insert into effect values (?)").run(id);
  });
  expect(await post(receiver, "evt_1")).toBe("204 applied");
  expect(await post(receiver, "evt_1")).toBe("204 duplicate");
  expect(effects(db)).toBe(1);
});

it("an inner part that returns a promise is rolled back and answered 500, and its rejection is nobody's", async () => {
  const { db, receiver } = await setUp(({ id }) => () => {
    db.prepare("insert into effect values (?)").run(id);
    // The types refuse it; JavaScript does not.
    return Promise.reject(new Error("too late")) as never;
  });
  expect(await post(receiver, "evt_1")).toBe("500 failed");
  expect(effects(db)).toBe(0);
});

it("an inner part that throws leaves nothing, and runs again at the next delivery", async () => {
  let fails = true;
  const { db, receiver } = await setUp(({ id }) => () => {
    db.prepare("insert into effect values (?)").run(id);
    if (fails) throw new Error("no");
  });
  expect(await post(receiver, "evt_1")).toBe("500 failed");
  fails = false;
  expect(await post(receiver, "evt_1")).toBe("204 applied");
  expect(effects(db)).toBe(1);
});

it("a handler that returns no function is answered 500 with the form that it should have", async () => {
  const { receiver } = await setUp((() => undefined) as never);
  expect(await post(receiver, "evt_1")).toBe("500 failed");
});

it("the events of one request share commits when they are stored first, and keep their order within their key", async () => {
  const db = new Database(":memory:");
  await migrate(db);
  const store = sqliteStore({ db, durability: "as_is" });
  let commits = 0;
  const exec = db.exec.bind(db);
  db.exec = (sql) => {
    if (sql === "commit") commits++;
    return exec(sql);
  };
  expect((await postArray(store, 300)).verdict).toBe("stored");
  // A group has up to 200, and fewer on a machine that is busy.
  expect(commits).toBeLessThan(30);
  const seen = new Seen();
  await createWorker({
    store,
    handlers: {
      delivered:
        ({ data }) =>
        () =>
          seen.add(data),
    },
  }).drain();
  expect(seen.numbers).toEqual(inOrder(300));
});
