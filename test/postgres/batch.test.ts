import { createReceiver, createSigner, createWorker, signSync, standardWebhooks } from "posthorn";
import type { EventBatch, Worker } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import { afterEach, describe, expect, it } from "vitest";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";
import type { TestPool } from "./drivers.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const KEYS = 4;
const EACH = 60;

interface Reading {
  readonly key: string;
  readonly number: number;
}

describe.each(drivers)("batches on Postgres by $name", (driver) => {
  const workers: Worker[] = [];
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  });

  it("have one effect of each event, in order per key, though two workers share them and some fail", async () => {
    const url = await freshDatabase();
    const admin = driver.open(url, { max: 2 });
    await admin.rows(
      "create table effect (n bigint generated always as identity, key text, number int, size int)",
    );
    const receiver = createReceiver({
      mode: "store_first",
      store: postgresStore({ client: driver.open(url, { max: 4 }).client }),
      sources: { shop: { verifier: standardWebhooks({ secrets: SECRET }), key: { json: "/key" } } },
    });
    const posts: Promise<unknown>[] = [];
    for (let number = 0; number < EACH; number++) {
      for (let key = 0; key < KEYS; key++) posts.push(post(`k${key}`, number));
      await Promise.all(posts.splice(0));
    }
    for (let n = 0; n < 2; n++) {
      const worker = workerOn(driver.open(url, { max: 4 }));
      workers.push(worker);
      await worker.start();
    }
    const count = async (): Promise<unknown> =>
      (await admin.rows("select count(*)::text as count from effect"))[0]?.["count"];
    await expect.poll(count, { timeout: 40_000, interval: 100 }).toBe(String(KEYS * EACH));
    const rows = await admin.rows(
      `select key, string_agg(number::text, ' ' order by n) as told, max(size)::text as size
       from effect group by key order by key`,
    );
    const inOrder = Array.from({ length: EACH }, (_, number) => number).join(" ");
    expect(rows.map(({ told }) => told)).toEqual(Array.from({ length: KEYS }, () => inOrder));
    expect(rows.map(({ size }) => size)).toEqual(Array.from({ length: KEYS }, () => "20"));

    async function post(key: string, number: number): Promise<void> {
      const body = new TextEncoder().encode(JSON.stringify({ type: "read", key, number }));
      const headers = signSync(createSigner({ secrets: SECRET }), { id: `evt_${key}_${number}`, body });
      expect((await receiver.receive("shop", { headers, body })).verdict).toBe("stored");
    }
  });
});

function workerOn(pool: TestPool): Worker {
  const failed = new Set<string>();
  return createWorker({
    store: postgresStore({ client: pool.client }),
    retry: { waitsMs: Array.from({ length: 20 }, () => 20) },
    pollMs: 50,
    observer: () => undefined,
    handlers: {
      read: {
        by: "key",
        max: 20,
        batch: async (events: EventBatch<Reading>, { tx }) => {
          const rows = events.map(({ data }) => `('${data.key}', ${data.number}, ${events.length})`);
          await pool.inside(tx, `insert into effect (key, number, size) values ${rows.join(", ")}`);
          // After the write, so that a missing rollback shows: first the batch, then the event by itself.
          const fault = events.find(({ data }) => data.number === 27);
          const name = `${fault?.id} ${events.length > 1 ? "batch" : "single"}`;
          if (fault === undefined || failed.has(name)) return;
          failed.add(name);
          throw new Error("fails once");
        },
      },
    },
  });
}
