import { again, createReceiver, createSigner, createWorker, signSync, standardWebhooks } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import { expect, it } from "vitest";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

it.each(drivers)("rules for errors judge what a handler throws on Postgres by $name", async (driver) => {
  const pool = driver.open(await freshDatabase(), { max: 6 });
  await pool.rows("create table effect (n bigint generated always as identity, id text)");
  const store = postgresStore({ client: pool.client });
  const verifier = standardWebhooks({ secrets: SECRET });
  const receiver = createReceiver({ mode: "store_first", store, sources: { shop: { verifier } } });
  let isReady = false;
  const worker = createWorker({
    store,
    observer: () => undefined,
    errors: [
      { when: { class: RangeError }, do: { skip: "not ours" } },
      // What the database says of a statement that it refused.
      { when: { code: "22012" }, do: { dead: true } },
    ],
    handlers: {
      "*": async ({ id }, { tx }) => {
        await pool.inside(tx, `insert into effect (id) values ('${id}')`);
        if (id === "skipped") throw new RangeError("foreign");
        if (id === "dead") await pool.inside(tx, "select 1 / 0");
        if (id === "later" && !isReady) throw again({ afterMs: 100 });
      },
    },
  });
  for (const id of ["skipped", "dead", "later", "plain"]) {
    const body = new TextEncoder().encode(JSON.stringify({ type: "order.paid" }));
    const headers = signSync(createSigner({ secrets: SECRET }), { id, body });
    await receiver.receive("shop", { headers, body });
  }
  await worker.drain();
  const rows = await pool.rows("select event_id, outcome, error from posthorn.inbox order by event_id");
  expect(rows).toEqual([
    { event_id: "plain", outcome: "success", error: null },
    { event_id: "skipped", outcome: "skipped", error: "not ours (RangeError: foreign)" },
  ]);
  expect((await store.deadLetters({ limit: 5 })).items).toMatchObject([
    { because: "error_rule", attempts: 1 },
  ]);
  isReady = true;
  const handled = async (): Promise<number> => (await worker.drain()).handled;
  await expect.poll(handled, { interval: 50, timeout: 10_000 }).toBe(1);
  const effects = await pool.rows("select id from effect order by n");
  expect(effects.map(({ id }) => id)).toEqual(["plain", "later"]);
});
