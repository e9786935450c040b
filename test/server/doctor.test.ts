import { createSender, systemClock } from "posthorn";
import { expect, it } from "vitest";
import { examine } from "../../server/src/commands/doctor/examination.js";
import { defaultSettings } from "../../server/src/config/load.js";
import { openOwnStore, openStore } from "../../server/src/store/open-store.js";
import { NO_SEAL } from "../../server/src/secrets/seal.js";
import { createSeal } from "../../server/src/secrets/seal.js";
import { quietPool } from "../postgres/quiet-pool.js";
import { freshDatabase } from "../services.js";

const database = await freshDatabase({ migrated: false });
const key = Buffer.alloc(32, 7);
const settings = defaultSettings({ database, masterKey: key.toString("base64") });

async function levels(change: object = {}): Promise<Record<string, string>> {
  const findings = await examine({ ...settings, ...change }, systemClock);
  return Object.fromEntries(findings.map(({ check, level }) => [check, level]));
}

it("tables that are not there are told, and nothing is made by looking", async () => {
  expect(await levels()).toMatchObject({ "master key": "ok", clock: "ok", schema: "fail" });
  expect(await levels()).toMatchObject({ schema: "fail" });
});

it("sources that are forgotten too early and secrets of another key are found", async () => {
  const store = await openStore(settings, { seal: NO_SEAL });
  await store.migrate();
  await store.close();
  expect(await levels()).toMatchObject({ schema: "ok", secrets: "ok", windows: "ok" });

  const open = await openStore(settings, { seal: createSeal(key) });
  await open.registry.addSource({
    name: "shop",
    tenant: "default",
    scheme: "stripe",
    secrets: ["whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"],
    options: {},
    dedup: { by: "id" },
    windowS: 3600,
    key: undefined,
    forwardHeaders: [],
    createdAt: new Date(),
    version: 1,
  });
  await open.close();
  expect(await levels()).toMatchObject({ secrets: "ok", "window of shop": "fail" });
  expect(await levels({ masterKey: Buffer.alloc(32, 8).toString("base64") })).toMatchObject({
    secrets: "fail",
  });
});

it("a check that cannot be made fails under its own name, and the others are made", async () => {
  const broken = { ...settings, schema: "broken" };
  const store = await openStore(defaultSettings(broken), { seal: NO_SEAL });
  await store.migrate();
  await store.close();
  const pool = quietPool({ connectionString: database, max: 1 });
  await pool.query("drop table broken.retention cascade");
  await pool.end();
  expect(await levels(broken)).toMatchObject({
    secrets: "ok",
    retention: "fail",
    windows: "ok",
    dispatch: "ok",
  });
});

it("an event that no node takes is told, and not by the one look at which it had just come", async () => {
  const store = await openStore(settings, { seal: createSeal(key) });
  await createSender({ store: store.outbox }).publish({ type: "t", data: 1 });
  await store.close();
  expect(await levels()).toMatchObject({ dispatch: "warn" });
});

it("tables of a newer version are told as such, by doctor, by a start and by migrate", async () => {
  const newer = defaultSettings({ ...settings, schema: "newer", migrate: false });
  const store = await openStore(newer, { seal: NO_SEAL });
  await store.migrate();
  await store.close();
  const pool = quietPool({ connectionString: database, max: 1 });
  await pool.query("insert into newer.server_migration values (99, 'later', now())");
  await pool.end();
  const schema = (await examine(newer, systemClock)).find(({ check }) => check === "schema");
  expect(schema).toMatchObject({
    level: "fail",
    cure: expect.not.stringContaining("posthorn migrate") as string,
  });
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
  };
  for (const migrate of [true, false]) {
    const start = openOwnStore({ ...newer, migrate }, { observer: () => undefined, log });
    await expect(start).rejects.toMatchObject({
      code: "store_newer",
      cure: expect.not.stringContaining("posthorn migrate") as string,
    });
  }
});

it("settings of Postgres that take back durability are told", async () => {
  // The server of these tests runs without fsync, to be fast.
  const store = await openStore(settings, { seal: NO_SEAL });
  const lost = await store.lostPromises();
  await store.close();
  expect(await levels()).toMatchObject({ durability: lost.length > 0 ? "fail" : "ok" });
});

it("a database that does not answer is told without its password", async () => {
  const findings = await examine({ ...settings, database: "postgres://u:CANARY@127.0.0.1:1/x" }, systemClock);
  expect(findings.at(-1)).toMatchObject({ check: "database", level: "fail" });
  expect(JSON.stringify(findings)).not.toContain("CANARY");
});
