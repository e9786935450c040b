import { systemClock } from "posthorn";
import { expect, it } from "vitest";
import { examine } from "../../server/src/commands/doctor/examination.js";
import { defaultSettings } from "../../server/src/config/load.js";
import { openStore } from "../../server/src/store/open-store.js";
import { NO_SEAL } from "../../server/src/secrets/seal.js";
import { createSeal } from "../../server/src/secrets/seal.js";
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
