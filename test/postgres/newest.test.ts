import { createReceiver, createSigner, createWorker, signSync, standardWebhooks } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import { expect, it } from "vitest";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const VERSIONS = 40;

it.each(drivers)(
  "a reordered and repeated stream ends in its newest state on Postgres by $name, though handlers run at once and fail",
  async (driver) => {
    const pool = driver.open(await freshDatabase(), { max: 12 });
    await pool.rows("create table stock (n bigint generated always as identity, sku text, version int)");
    const store = postgresStore({ client: pool.client });
    const sources = { shop: standardWebhooks({ secrets: SECRET }) };
    const failed = new Set<string>();
    const worker = createWorker({
      store,
      // Without a key every event is beside the others: nothing but their versions keeps them in order.
      order: {
        policy: "drop_stale",
        resource: ({ data }) => data.sku,
        version: ({ data }) => BigInt(data.version),
      },
      retry: { waitsMs: Array.from({ length: 20 }, () => 10) },
      observer: () => undefined,
      handlers: {
        "*": async ({ id, data }, { tx }) => {
          await pool.inside(tx, `insert into stock (sku, version) values ('${data.sku}', ${data.version})`);
          // After it was the newest, so that a version that outlives its rollback shows.
          if (data.version % 5 === 0 && !failed.has(id)) {
            failed.add(id);
            throw new Error("fails once");
          }
        },
      },
    });
    const receiver = createReceiver({ mode: "store_first", store, sources });
    const order = Array.from({ length: VERSIONS }, (_, n) => ((n * 17) % VERSIONS) + 1);
    for (const [n, version] of [...order, ...order].entries()) {
      const body = new TextEncoder().encode(
        JSON.stringify({ type: "stock.changed", sku: `s${version % 2}`, version }),
      );
      const headers = signSync(createSigner({ secrets: SECRET }), { id: `evt_${n}`, body });
      await receiver.receive("shop", { headers, body });
    }
    const outcomes = async () =>
      (await pool.rows("select count(*)::text as all from posthorn.inbox"))[0]?.["all"];
    await expect
      .poll(async () => (await worker.drain(), outcomes()), { interval: 20, timeout: 30_000 })
      .toBe(String(2 * VERSIONS));
    const rows = await pool.rows("select sku, version, n from stock order by n");
    for (const sku of ["s0", "s1"]) {
      const versions = rows.filter((row) => row["sku"] === sku).map(({ version }) => Number(version));
      expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b));
      expect(versions.at(-1)).toBe(sku === "s0" ? VERSIONS : VERSIONS - 1);
    }
    const dropped = await pool.rows(
      "select count(*)::text as count from posthorn.inbox where outcome = 'dropped' and error like 'not newer%'",
    );
    expect(Number(dropped[0]?.["count"])).toBe(2 * VERSIONS - rows.length);
  },
);
