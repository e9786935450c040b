import { createReceiver, createSigner, createWorker, signSync, standardWebhooks } from "posthorn";
import { createOperator, reconcile } from "posthorn/operator";
import { postgresStore } from "posthorn/postgres";
import { describe, expect, it } from "vitest";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

describe.each(drivers)("handling events again on Postgres by $name", (driver) => {
  it("replays, redrives a conflict, reconciles with a table and forgets, each with one effect", async () => {
    const url = await freshDatabase();
    const pool = driver.open(url, { max: 6 });
    await pool.rows("create table effect (n bigint generated always as identity, id text)");
    const store = postgresStore({ client: pool.client });
    const operator = createOperator({ store });
    const sources = { shop: { verifier: standardWebhooks({ secrets: SECRET }), key: { json: "/key" } } };
    const receiver = createReceiver({ mode: "store_first", store, sources, observer: () => undefined });
    const post = async (id: string, data: object = {}) => {
      const body = new TextEncoder().encode(JSON.stringify({ type: "paid", key: "k", ...data }));
      const headers = signSync(createSigner({ secrets: SECRET }), { id, body });
      return (await receiver.receive("shop", { headers, body })).verdict;
    };
    const worker = createWorker({
      store,
      handlers: { paid: ({ id }, { tx }) => pool.inside(tx, `insert into effect (id) values ('${id}')`) },
    });
    const effects = async () =>
      (await pool.rows("select string_agg(id, ' ' order by n) as ids from effect"))[0]?.["ids"];
    for (const id of ["evt_1", "evt_2"]) await post(id);
    await worker.drain();
    const { items } = await operator.inboxRows({ source: "shop", order: "oldest" });
    expect(await operator.replay(items)).toEqual(["staged", "staged"]);
    expect(await operator.replay(items)).toEqual(["before", "before"]);
    await worker.drain();
    expect(await effects()).toBe("evt_1 evt_2 evt_1 evt_2");

    expect(await post("evt_1", { amount: 2 })).toBe("conflict");
    const [conflict] = (await operator.refusedEvents()).items;
    if (conflict === undefined) throw new Error("There is no conflict.");
    expect(conflict.key).toBe("k");
    expect((await operator.redriveRefused(conflict)).kind).toBe("staged");
    await worker.drain();
    expect(await effects()).toMatch(/^evt_1 evt_2 evt_1 evt_2 evt_1~[0-9a-f]{12}$/);

    await pool.rows("delete from effect where id = 'evt_2'");
    const { differences } = await reconcile({
      store,
      since: new Date(0),
      missing: "replay",
      wasApplied: async ({ id }, tx) => {
        const found = await pool.inside(tx, `select 1 as found from effect where id = '${id}'`);
        return (Array.isArray(found) ? found : (found as { rows: unknown[] }).rows).length > 0;
      },
    });
    expect(differences).toMatchObject([{ kind: "missing", event: { id: "evt_2" }, done: "staged" }]);
    await worker.drain();
    expect(await effects()).toMatch(/ evt_2$/);

    expect(await operator.forget("default", "shop", "evt_1")).toEqual({
      kind: "forgotten",
      rows: 1,
      names: 1,
    });
    expect(await post("evt_1")).toBe("stored");
    await worker.drain();
    expect(await effects()).toMatch(/ evt_2 evt_1$/);
  });

  it("forgets no event whose first handler runs, within its request, in a transaction of a worker or as a long one", async () => {
    const url = await freshDatabase();
    const pool = driver.open(url, { max: 6 });
    const store = postgresStore({ client: pool.client });
    const operator = createOperator({ store });
    const sources = { shop: { verifier: standardWebhooks({ secrets: SECRET }), key: { json: "/key" } } };
    const signed = (id: string) => {
      const body = new TextEncoder().encode(JSON.stringify({ type: "paid", key: "k" }));
      return { headers: signSync(createSigner({ secrets: SECRET }), { id, body }), body };
    };
    const answers: string[] = [];
    const forget = async ({ id }: { readonly id: string }): Promise<void> => {
      answers.push((await operator.forget("default", "shop", id)).kind);
    };
    const inRequest = createReceiver({ store, sources, handlers: { paid: forget } });
    expect((await inRequest.receive("shop", signed("evt_1"))).verdict).toBe("applied");
    const stored = createReceiver({ mode: "store_first", store, sources });
    await stored.receive("shop", signed("evt_2"));
    const consumers = {
      one: { handlers: { paid: forget } },
      two: { handlers: { paid: { long: (event: { readonly id: string }) => forget(event) } } },
    };
    const worker = createWorker({ store, consumers });
    // Where one handler asks while the other begins, the other is busy, and due again after a second.
    const answered = async (): Promise<number> => {
      await worker.drain();
      return answers.length;
    };
    await expect.poll(answered, { interval: 200, timeout: 20_000 }).toBe(3);
    expect(answers).toEqual(["busy", "busy", "busy"]);
    for (const id of ["evt_1", "evt_2"])
      expect(await operator.forget("default", "shop", id)).toMatchObject({ kind: "forgotten" });
  });

  it("replays the events of a key in the order in which they were handled, whatever their ids", async () => {
    const url = await freshDatabase();
    const pool = driver.open(url, { max: 6 });
    const store = postgresStore({ client: pool.client });
    const operator = createOperator({ store });
    const sources = { shop: { verifier: standardWebhooks({ secrets: SECRET }), key: { json: "/key" } } };
    const receiver = createReceiver({ mode: "store_first", store, sources, observer: () => undefined });
    // Enough runs that the database plans their statement once for all: the plan decides whose clock a row has.
    const ids = Array.from({ length: 120 }, (_, n) => `evt_${999 - n}`);
    for (const id of ids) {
      const body = new TextEncoder().encode(JSON.stringify({ type: "paid", key: "k" }));
      const headers = signSync(createSigner({ secrets: SECRET }), { id, body });
      expect((await receiver.receive("shop", { headers, body })).verdict).toBe("stored");
    }
    const handled: string[] = [];
    const handlers = {
      paid: {
        by: "key",
        max: 20,
        batch: (events: readonly { id: string }[]) => void handled.push(...events.map(({ id }) => id)),
      },
    } as const;
    const worker = createWorker({ store, handlers });
    await worker.drain();
    expect(handled).toEqual(ids);
    for (let after: string | undefined; ;) {
      const { items, next } = await operator.inboxRows({ order: "oldest" }, { limit: 7, after });
      await operator.replay(items);
      if ((after = next) === undefined) break;
    }
    await worker.drain();
    expect(handled).toEqual([...ids, ...ids]);
  });
});
