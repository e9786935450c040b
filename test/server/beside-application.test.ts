import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReceiver, createSigner, createWorker, signSync, standardWebhooks } from "posthorn";
import { createClient } from "posthorn/client";
import { migrate, postgresStore } from "posthorn/postgres";
import { afterAll, expect, it } from "vitest";
import { startServer } from "../../server/src/compose.js";
import type { RunningServer } from "../../server/src/compose.js";
import { defaultSettings } from "../../server/src/config/load.js";
import { createLog } from "../../server/src/observe/log.js";
import { newMasterKey } from "../../server/src/secrets/master-key.js";
import { openStore } from "../../server/src/store/open-store.js";
import { NO_SEAL } from "../../server/src/secrets/seal.js";
import { quietPool } from "../postgres/quiet-pool.js";
import { freshDatabase } from "../services.js";
import { eventually } from "./node-process.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const database = await freshDatabase({ migrated: false });
const dataDir = mkdtempSync(join(tmpdir(), "posthorn-beside-"));
const pool = quietPool({ connectionString: database, max: 6 });
const running: RunningServer[] = [];

afterAll(async () => {
  for (const server of running.splice(0)) await server.stop();
  await pool.end();
  rmSync(dataDir, { recursive: true, force: true });
});

const settings = defaultSettings({
  dataDir,
  listen: { host: "127.0.0.1", port: 0 },
  database,
  masterKey: newMasterKey(),
  roles: ["api"],
  dev: true,
});

async function start(): Promise<RunningServer> {
  const output = { write: () => undefined, isTty: false, colour: false };
  const server = await startServer(settings, {
    log: createLog(settings, output, "n"),
    node: "n",
    seen: true,
  });
  running.push(server);
  return server;
}

const tables = async (): Promise<string> => {
  const { rows } = await pool.query<{ names: string | null }>(
    "select string_agg(table_name, ' ' order by table_name) as names from information_schema.tables where table_schema = 'posthorn'",
  );
  return rows[0]?.names ?? "";
};

it("a node with the role api alone changes no tables of an application; migrated, it shows and replays its inbox", async () => {
  await migrate(pool);
  const before = await tables();
  await expect(start()).rejects.toMatchObject({
    code: "store_not_migrated",
    cure: expect.stringContaining("posthorn migrate") as string,
  });
  expect(await tables()).toBe(before);
  const opened = await openStore(settings, { seal: NO_SEAL });
  await opened.migrate();
  await opened.close();

  await pool.query("create table paid (n bigint generated always as identity, id text)");
  const store = postgresStore({ client: pool });
  const sources = { shop: { verifier: standardWebhooks({ secrets: SECRET }), key: { json: "/order" } } };
  const receiver = createReceiver({ mode: "store_first", store, sources });
  for (const id of ["evt_1", "evt_2"]) {
    const body = new TextEncoder().encode(JSON.stringify({ type: "paid", order: "1" }));
    await receiver.receive("shop", {
      headers: signSync(createSigner({ secrets: SECRET }), { id, body }),
      body,
    });
  }
  const worker = createWorker({
    store,
    handlers: {
      paid: async ({ id }, { tx }) => void (await tx.query("insert into paid (id) values ($1)", [id])),
    },
  });
  await worker.drain();

  const server = await start();
  const client = createClient({ url: server.url, token: server.firstToken?.token ?? "" });
  expect((await client.inbox.list({ source: "shop" })).items).toMatchObject([
    { eventId: "evt_2", outcome: "success" },
    { eventId: "evt_1", outcome: "success" },
  ]);
  expect((await client.consumers.list()).items).toMatchObject([{ id: "hnd_default", hasWorker: true }]);
  expect((await client.status()).ok).toBe(true);
  const { id } = await client.operations.create({ verb: "replay", filter: { inbox: { source: "shop" } } });
  await eventually("the replay", 20_000, async () => (await client.operations.get(id)).state === "finished");
  await worker.drain();
  const { rows } = await pool.query<{ ids: string }>(
    "select string_agg(id, ' ' order by n) as ids from paid",
  );
  expect(rows[0]?.ids).toBe("evt_1 evt_2 evt_1 evt_2");
});
