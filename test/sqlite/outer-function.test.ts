import Database from "better-sqlite3";
import { createReceiver, createSigner, createWorker, signSync, standardWebhooks } from "posthorn";
import type { Signal } from "posthorn";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { describe, expect, it } from "vitest";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

async function setUp() {
  const db = new Database(":memory:");
  await migrate(db);
  db.exec("create table effect (id text)");
  const store = sqliteStore({ db, durability: "as_is" });
  const signals: Signal[] = [];
  const parts = { store, observer: (signal: Signal) => void signals.push(signal) };
  const sources = { shop: { verifier: standardWebhooks({ secrets: SECRET }), key: { json: "/order" } } };
  const signed = (id: string) => {
    const body = new TextEncoder().encode(JSON.stringify({ type: "order.paid", order: "7" }));
    return { headers: signSync(createSigner({ secrets: SECRET }), { id, body }), body };
  };
  const effects = (): unknown => db.prepare("select id from effect order by rowid").pluck().all();
  const outcomes = (): unknown =>
    db.prepare("select event_id, outcome from posthorn_inbox order by event_id").raw().all();
  const whys = (): string => signals.map((signal) => ("why" in signal ? (signal.why ?? "") : "")).join("\n");
  return { db, parts, sources, signed, effects, outcomes, whys };
}

describe("an inner function that does nothing has nothing to write", () => {
  it("in a receiver", async () => {
    const { parts, sources, signed, effects, outcomes } = await setUp();
    const receiver = createReceiver({
      ...parts,
      sources,
      handlers: {
        "order.paid": async ({ id }) => {
          await Promise.resolve();
          if (id === "evt_1") return () => {};
          return (tx) => tx.prepare("insert into effect values (?)").run(id);
        },
      },
    });
    const replies = [];
    for (const id of ["evt_1", "evt_2", "evt_1"])
      replies.push((await receiver.receive("shop", signed(id))).verdict);
    expect(replies).toEqual(["applied", "applied", "duplicate"]);
    expect(effects()).toEqual(["evt_2"]);
    expect(outcomes()).toEqual([
      ["evt_1", "success"],
      ["evt_2", "success"],
    ]);
  });

  it("in a worker, and in a batch of it", async () => {
    const { parts, sources, signed, effects, outcomes } = await setUp();
    const receiver = createReceiver({ ...parts, mode: "store_first", sources });
    for (const id of ["evt_1", "evt_2"]) await receiver.receive("shop", signed(id));
    const worker = createWorker({
      ...parts,
      consumers: {
        one: {
          handlers: {
            "*": async ({ id }) => {
              await Promise.resolve();
              if (id === "evt_1") return () => {};
              return (tx) => tx.prepare("insert into effect values (?)").run(id);
            },
          },
        },
        many: { handlers: { "*": { by: "key", max: 10, batch: () => () => {} } } },
      },
    });
    expect(await worker.drain()).toEqual({ handled: 4, failed: 0, more: false });
    expect(effects()).toEqual(["evt_2"]);
    expect(outcomes()).toHaveLength(4);
  });
});

it("a handler that forgot its inner function fails: its effect would be lost, silently", async () => {
  const { parts, sources, signed, whys } = await setUp();
  for (const [n, returned] of [undefined, { changes: 1 }].entries()) {
    const handlers = { "*": () => returned } as never;
    const receiver = createReceiver({ ...parts, sources, handlers });
    expect((await receiver.receive("shop", signed(`evt_${n}`))).verdict).toBe("failed");
  }
  expect(whys().split("where there is nothing to write: `return () => {}`")).toHaveLength(3);
});

it("a schema that never answers ends with its handler's deadline, in a receiver and in a worker, which stops then", async () => {
  const { parts, sources, signed, whys } = await setUp();
  const never = {
    "~standard": { version: 1, vendor: "test", validate: () => new Promise<never>(() => {}) },
  } as const;
  const schemas = { "order.paid": never };
  const handlers = { "order.paid": () => () => {} };
  const times = { handlerDeadlineMs: 20 };
  const inRequest = createReceiver({ ...parts, ...times, sources, schemas, handlers });
  expect((await inRequest.receive("shop", signed("evt_1"))).verdict).toBe("unavailable");
  await createReceiver({ ...parts, mode: "store_first", sources }).receive("shop", signed("evt_2"));
  const worker = createWorker({ ...parts, ...times, schemas, handlers });
  expect(await worker.drain()).toMatchObject({ handled: 0, failed: 1 });
  await worker.stop();
  expect(whys().split("did not finish within 20 ms")).toHaveLength(3);
});

describe("a handler that uses what its form does not have is told the right form", () => {
  const form = "On SQLite the handler has the form `async (event) => (tx) => { … }`";

  it("in the form of Postgres on SQLite: alone, in a batch, and as a long handler", async () => {
    const { parts, sources, signed, whys } = await setUp();
    const handler = ((_: unknown, { tx }: { tx: { query(sql: string): void } }) =>
      tx.query("select 1")) as never;
    const receiver = createReceiver({ ...parts, sources, handlers: { "*": handler } });
    await receiver.receive("shop", signed("evt_1"));
    expect(whys()).toContain(form);
    const storing = createReceiver({ ...parts, mode: "store_first", sources });
    await storing.receive("shop", signed("evt_2"));
    const consumers = {
      many: { handlers: { "*": { by: "key", max: 2, batch: handler } } },
      slow: { handlers: { "*": { long: handler } } },
    } as const;
    await createWorker({ ...parts, consumers }).drain();
    expect(whys().split(form)).toHaveLength(3);
    expect(whys()).toContain(
      "A long handler has no transaction: what it returns has, `return (tx) => { … }`",
    );
  });

  it("with `once` in a short handler", async () => {
    const { parts, sources, signed, whys } = await setUp();
    const handler = (async (
      _: unknown,
      { once }: { once: (step: string, act: () => void) => Promise<void> },
    ) => {
      await once("mail", () => undefined);
    }) as never;
    const receiver = createReceiver({ ...parts, sources, handlers: { "*": handler } });
    await receiver.receive("shop", signed("evt_1"));
    expect(whys()).toContain("`once` belongs to long handlers: `{ long: async (event, { once }) => { … } }`");
  });
});
