import {
  createReceiver,
  createSender,
  createSigner,
  createWorker,
  signSync,
  standardWebhooks,
} from "posthorn";
import type { Worker } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../library/src/clock.js";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";
import type { TestPool } from "./drivers.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const KEYS = 10;
const EACH = 20;

describe.each(drivers)("stored events on Postgres by $name", (driver) => {
  const workers: Worker[] = [];
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  });

  it("have one effect each, in order per key, though two workers share them, handlers fail and connections are killed", async () => {
    const url = await freshDatabase();
    const admin = driver.open(url, { max: 2 });
    await admin.rows("create table effect (n bigint generated always as identity, key text, number int)");
    const receiving = postgresStore({ client: driver.open(url, { max: 4 }).client });
    const receiver = createReceiver({
      mode: "store_first",
      store: receiving,
      sources: { shop: { verifier: standardWebhooks({ secrets: SECRET }), key: { json: "/key" } } },
    });
    for (const name of ["one", "two"]) {
      const worker = workerOn(driver.open(url, { max: 6, applicationName: `worker-${name}` }));
      workers.push(worker);
      await worker.start();
    }
    for (let number = 0; number < EACH; number++) {
      const posts = Array.from({ length: KEYS }, (_, key) => [
        post(`k${key}`, number),
        post(`k${key}`, number),
      ]);
      await Promise.all(posts.flat());
      if (number % 5 === 2) await killOne(admin, number);
    }
    const count = async (): Promise<unknown> =>
      (await admin.rows("select count(*)::text as count from effect"))[0]?.["count"];
    await expect.poll(count, { timeout: 40_000, interval: 100 }).toBe(String(KEYS * EACH));
    const rows = await admin.rows(
      "select key, string_agg(number::text, ' ' order by n) as told from effect group by key",
    );
    const inOrder = Array.from({ length: EACH }, (_, number) => number).join(" ");
    expect(rows.map(({ told }) => told)).toEqual(Array.from({ length: KEYS }, () => inOrder));

    async function post(key: string, number: number): Promise<void> {
      const body = new TextEncoder().encode(JSON.stringify({ type: "order.paid", key, number }));
      const headers = signSync(createSigner({ secrets: SECRET }), { id: `evt_${key}_${number}`, body });
      const { verdict } = await receiver.receive("shop", { headers, body });
      expect(["stored", "duplicate", "in_progress"]).toContain(verdict);
    }
  });

  it("are drained on a pool of one connection: by handlers that fail and publish, a batch, and a long one with a step", async () => {
    const pool = driver.open(await freshDatabase(), { max: 1 });
    await pool.rows("create table effect (n bigint generated always as identity, told text)");
    const store = postgresStore({ client: pool.client });
    const sources = { shop: { verifier: standardWebhooks({ secrets: SECRET }), key: { json: "/key" } } };
    const receiver = createReceiver({ mode: "store_first", store, sources });
    for (const [n, type] of ["plain", "plain", "many", "many", "slow"].entries()) {
      const body = new TextEncoder().encode(JSON.stringify({ type, key: type }));
      const headers = signSync(createSigner({ secrets: SECRET }), { id: `evt_${n}`, body });
      expect(await receiver.receive("shop", { headers, body })).toMatchObject({ verdict: "stored" });
    }
    const write = (tx: unknown, told: string) =>
      pool.inside(tx, `insert into effect (told) values ('${told}')`);
    let hasFailed = false;
    const worker = createWorker({
      store,
      publisher: createSender({ store }),
      retry: { waitsMs: [0] },
      observer: () => undefined,
      handlers: {
        plain: async ({ id }, { tx, publish }) => {
          await write(tx, id);
          await publish({ type: "told", data: {} });
          if (!hasFailed) {
            hasFailed = true;
            throw new Error("fails once");
          }
        },
        many: {
          by: "key",
          max: 5,
          batch: (events, { tx }) => write(tx, events.map(({ id }) => id).join("+")),
        },
        slow: {
          long: async ({ id }, { once }) => {
            const step = await once("step", { act: () => "done" });
            return (tx) => write(tx, `${id} ${step}`);
          },
        },
      },
    });
    await expect(worker.start()).rejects.toThrow(/3 or more/);
    let handled = 0;
    for (let more = true; more;) {
      const report = await worker.drain({ deadlineMs: 20_000 });
      handled += report.handled;
      more = report.failed > 0;
    }
    expect(handled).toBe(5);
    const rows = await pool.rows("select told from effect order by told");
    expect(rows.map(({ told }) => told)).toEqual(["evt_0", "evt_1", "evt_2+evt_3", "evt_4 done"]);
    expect(await pool.rows("select public_id from posthorn.event where type = 'told'")).toHaveLength(2);
  });

  it("are claimed once for nine lanes: a settlement that empties a lane leases the next one", async () => {
    const pool = driver.open(await freshDatabase(), { max: 4 });
    const store = postgresStore({ client: pool.client });
    const receiver = createReceiver({
      mode: "store_first",
      store,
      sources: { shop: { verifier: standardWebhooks({ secrets: SECRET }), key: { json: "/key" } } },
    });
    const handled: string[] = [];
    let claims = 0;
    const counting = new Proxy(store, {
      get(target, name) {
        if (name === "claim") claims++;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    const worker = createWorker({
      store: counting,
      slots: 1,
      // A slot that has gone on for a second while something waits is given to a claim.
      clock: { ...systemClock, monotonic: () => 0 },
      observer: () => undefined,
      handlers: { "order.paid": ({ id }) => void handled.push(id) },
    });
    await worker.drain();
    claims = 0;
    for (let n = 0; n < 18; n++) {
      const body = new TextEncoder().encode(JSON.stringify({ type: "order.paid", key: `k${n}` }));
      const headers = signSync(createSigner({ secrets: SECRET }), { id: `evt_${n}`, body });
      await receiver.receive("shop", { headers, body });
    }
    await worker.drain();
    expect(handled).toEqual(Array.from({ length: 18 }, (_, n) => `evt_${n}`));
    // Two that find nine lanes each, and one that finds nothing.
    expect(claims).toBe(3);
  });
});

function workerOn(pool: TestPool): Worker {
  const failed = new Set<string>();
  return createWorker({
    store: postgresStore({ client: pool.client }),
    retry: { waitsMs: Array.from({ length: 20 }, () => 20) },
    pollMs: 50,
    leaseMs: 10_000,
    handlerDeadlineMs: 4000,
    observer: () => undefined,
    handlers: {
      "order.paid": async (event, { tx }) => {
        const { key, number } = event.data as { readonly key: string; readonly number: number };
        await pool.inside(tx, `insert into effect (key, number) values ('${key}', ${number})`);
        // After the write, so that a missing rollback shows.
        if (number % 7 === 3 && !failed.has(event.id)) {
          failed.add(event.id);
          throw new Error("fails once");
        }
      },
    },
  });
}

/**
 * Ends a connection of one of the workers in a transaction, whatever it does there. One that has only just been opened is
 * spared: the driver `postgres` asks it for types, and throws where nobody awaits when it is lost then.
 */
async function killOne(admin: TestPool, number: number): Promise<void> {
  const name = number % 2 === 0 ? "worker-one" : "worker-two";
  await admin.rows(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = '${name}'
       and xact_start is not null and query not like '%pg_catalog.pg_type%' order by random() limit 1`,
  );
}
