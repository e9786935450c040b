import { createReceiver, createSigner, createWorker, signSync, standardWebhooks } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import { afterAll, expect, it } from "vitest";
import { freshDatabase } from "../services.js";
import { quietPool } from "./quiet-pool.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const pool = quietPool({ connectionString: await freshDatabase(), max: 4 });
afterAll(() => pool.end());

it("a purge of a receiver on Postgres that stores first leaves neither rows nor names whose window has passed", async () => {
  const store = postgresStore({ client: pool });
  const sources = { shop: standardWebhooks({ secrets: SECRET }) };
  const receiver = createReceiver({ mode: "store_first", store, sources });
  for (let n = 0; n < 5; n++) {
    const body = new TextEncoder().encode(`{"type":"paid","n":${n}}`);
    const headers = signSync(createSigner({ secrets: SECRET }), { id: `evt_${n}`, body });
    await receiver.receive("shop", { headers, body });
  }
  const left = async () => {
    const { rows } = await pool.query<{ rows: string; names: string }>(
      "select (select count(*) from posthorn.inbox) as rows, (select count(*) from posthorn.ingest_name) as names",
    );
    return rows[0];
  };
  const worker = createWorker({ store, handlers: { paid: () => undefined } });
  // Events get their places after their commit, by whichever process is first.
  await expect
    .poll(async () => (await worker.drain(), left()), { interval: 20, timeout: 30_000 })
    .toEqual({ rows: "5", names: "5" });
  // The database's clock decides: the windows are moved, as if half a month had gone by.
  for (const table of ["inbox", "ingest_name"])
    await pool.query(`update posthorn.${table} set keep_until = keep_until - interval '15 days'`);
  expect(await receiver.purge()).toEqual({ removed: 10, more: false });
  expect(await left()).toEqual({ rows: "0", names: "0" });
});
