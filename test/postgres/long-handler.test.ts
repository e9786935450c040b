import { spawn } from "node:child_process";
import { once as next } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createReceiver, createSigner, createWorker, signSync, standardWebhooks } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import { describe, expect, it } from "vitest";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";
import type { Driver } from "./drivers.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
// The deadline holds for what marks an event, too.
const TIMES = { pollMs: 50, handlerDeadlineMs: 5000, leaseMs: 10_500 };
const program = fileURLToPath(new URL("../hanging-worker.ts", import.meta.url));
const root = fileURLToPath(new URL("../../", import.meta.url));

function insert(id: string): string {
  return `insert into effect (id) values ('${id}')`;
}

async function setUp(driver: Driver, ids: readonly string[]) {
  const url = await freshDatabase();
  const pool = driver.open(url, { max: 5 });
  await pool.rows("create table effect (n bigint generated always as identity, id text)");
  const store = postgresStore({ client: pool.client });
  const receiver = createReceiver({
    mode: "store_first",
    store,
    sources: { shop: { verifier: standardWebhooks({ secrets: SECRET }), key: { json: "/order" } } },
  });
  for (const id of ids) {
    const body = new TextEncoder().encode(JSON.stringify({ type: "order.closed", order: "1" }));
    const headers = signSync(createSigner({ secrets: SECRET }), { id, body });
    expect((await receiver.receive("shop", { headers, body })).verdict).toBe("stored");
  }
  const column = async (text: string): Promise<unknown> =>
    (await pool.rows(text)).map((row) => Object.values(row).join(" "));
  return { url, pool, store, column };
}

describe.each(drivers)("a long handler on Postgres by $name", (driver) => {
  it("whose process is killed is found, recorded as lapsed, and applied once by another", async () => {
    const { url, pool, store, column } = await setUp(driver, ["evt_1", "evt_2"]);
    const child = spawn(process.execPath, ["--import", "tsx", program, "postgres", url], { cwd: root });
    const [line] = (await next(createInterface({ input: child.stdout }), "line")) as [string];
    child.kill("SIGKILL");
    expect(line).toBe("evt_1 done by the first");
    const worker = createWorker({
      store,
      ...TIMES,
      handlers: {
        "order.closed": {
          long: async ({ id }, { once }) => {
            const charge = await once("charge", { act: () => "done by the second" });
            const mail = await once("mail", { check: () => "found", act: () => "sent" });
            return async (tx) => void (await pool.inside(tx, insert(`${id} ${charge} ${mail}`)));
          },
        },
      },
    });
    await worker.start();
    await expect
      .poll(() => column("select id from effect order by n"), { timeout: 45_000 })
      .toEqual(["evt_1 done by the first found", "evt_2 done by the second sent"]);
    await worker.stop();
    expect(await column("select seq, no, outcome from posthorn.attempt order by seq, no")).toEqual([
      "1 1 lapsed",
    ]);
  });

  it("takes longer than its lease without a transaction, is run by nobody else, and is applied with its end", async () => {
    const { pool, store, column } = await setUp(driver, ["evt_1"]);
    const begun: string[] = [];
    const workers = ["one", "two"].map((name) =>
      createWorker({
        store,
        ...TIMES,
        slots: 1,
        handlers: {
          "order.closed": {
            long: async ({ id }, { signal }) => {
              begun.push(name);
              await new Promise((resolve) => setTimeout(resolve, 15_000));
              signal.throwIfAborted();
              const open = await column(
                "select count(*)::text from pg_stat_activity where state like 'idle in%' and datname = current_database() and xact_start < clock_timestamp() - interval '3 s'",
              );
              return async (tx) => void (await pool.inside(tx, insert(`${id} ${String(open)}`)));
            },
          },
        },
      }),
    );
    for (const worker of workers) await worker.start();
    await expect
      .poll(() => column("select id from effect order by n"), { timeout: 45_000 })
      .toEqual(["evt_1 0"]);
    await Promise.all(workers.map((worker) => worker.stop()));
    expect(begun).toHaveLength(1);
    expect(await column("select outcome from posthorn.attempt")).toEqual([]);
  });
});
