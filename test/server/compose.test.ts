import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { existsSync, mkdtempSync, rmSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { startServer } from "../../server/src/compose.js";
import type { RunningServer } from "../../server/src/compose.js";
import { defaultSettings } from "../../server/src/config/load.js";
import type { Settings } from "../../server/src/config/settings.js";
import { freshDatabase } from "../services.js";
import { createLog } from "../../server/src/observe/log.js";

const database = await freshDatabase({ migrated: false });
const root = mkdtempSync(join(tmpdir(), "posthorn-compose-"));
let dataDir = root;
let lines: string[] = [];
const running: RunningServer[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(root, "d"));
  lines = [];
});

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

async function start(change: Partial<Settings> = {}): Promise<RunningServer> {
  const listen = { host: "127.0.0.1", port: 0 };
  const settings = defaultSettings({ dataDir, listen, dev: true, logLevel: "debug", ...change });
  const output = { write: (text: string) => void lines.push(text), isTty: false, colour: false };
  const server = await startServer(settings, { log: createLog(settings, output, "node"), node: "node" });
  running.push(server);
  return server;
}

/** A receiver on loopback that remembers what came. */
async function receiver(): Promise<{ url: string; bodies: string[]; close(): void }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      bodies.push(body);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, bodies, close: () => server.close() };
}

async function call(server: RunningServer, token: string, path: string, body?: object): Promise<Response> {
  return fetch(`${server.url}/api/v1${path}`, {
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

it("a first start on an empty directory delivers what is published, and stops cleanly", async () => {
  const hook = await receiver();
  const server = await start();
  const token = server.firstToken?.token ?? "";
  expect((await call(server, token, "/endpoints", { url: hook.url })).status).toBe(201);
  expect(
    (await call(server, token, "/events", { type: "order.paid", data: { amount: 1 } })).status,
  ).toBeLessThan(300);
  await until(() => hook.bodies.length > 0);
  hook.close();
  expect(hook.bodies).toEqual([expect.stringContaining('{"amount":1}')]);
  await until(() => lines.some((line) => line.includes('"msg":"attempt"')));
  expect(await server.stop()).toBe(true);
  const secret = /whsec_|phk_[\w-]{10}/;
  expect(lines.filter((line) => secret.test(line) || line.includes('"amount"'))).toEqual([]);
});

it("the next start knows the token, the endpoints and the key", async () => {
  const first = await start();
  const token = first.firstToken?.token ?? "";
  await call(first, token, "/endpoints", { url: "http://127.0.0.1:9999/" });
  await first.stop();
  const second = await start();
  expect(second.firstToken).toBeUndefined();
  const page = (await (await call(second, token, "/endpoints")).json()) as { items: { state: string }[] };
  expect(page.items).toMatchObject([{ state: "active" }]);
});

it("a database that was sealed under another key is not started on", async () => {
  const first = await start();
  await call(first, first.firstToken?.token ?? "", "/endpoints", { url: "http://127.0.0.1:9999/" });
  await first.stop();
  const masterKey = Buffer.alloc(32, 1).toString("base64");
  lines = [];
  await expect(start({ masterKey })).rejects.toMatchObject({ code: "master_key_other" });
  // Nothing else is told: each endpoint would seem to be at fault.
  expect(lines).toEqual([]);
  unlinkSync(join(dataDir, "master.key"));
  await expect(start()).rejects.toMatchObject({ code: "master_key_missing" });
});

it("one endpoint whose secret was changed in the database is told of, and the others go on", async () => {
  const first = await start();
  const token = first.firstToken?.token ?? "";
  for (const port of [9998, 9999])
    await call(first, token, "/endpoints", { url: `http://127.0.0.1:${port}/` });
  await first.stop();
  const db = new Database(join(dataDir, "posthorn.db"));
  db.prepare("update posthorn_consumer set secrets = replace(secrets, '\"]', 'AAAA\"]') where id = 1").run();
  db.close();
  lines = [];
  const second = await start();
  expect(lines.filter((line) => line.includes("endpoint disabled"))).toHaveLength(1);
  const page = (await (await call(second, token, "/endpoints")).json()) as { items: { state: string }[] };
  expect(page.items.map(({ state }) => state).toSorted()).toEqual(["active", "disabled"]);
});

it("a second process on the same directory is told who holds it", async () => {
  await start();
  await expect(start()).rejects.toMatchObject({ code: "data_dir_held" });
});

it("a port that is taken is told, and no token is used up by the start that failed", async () => {
  const other = await start();
  const port = Number(new URL(other.url).port);
  dataDir = mkdtempSync(join(root, "d"));
  const listen = { host: "127.0.0.1", port };
  await expect(start({ listen })).rejects.toMatchObject({ code: "address_taken" });
  // Everything that had been started was stopped again: the directory is free, and the token is still to be made.
  expect((await start()).firstToken?.random).toBe(true);
});

it("without migrations, tables that are not there are not guessed at", async () => {
  await expect(start({ migrate: false })).rejects.toMatchObject({ code: "store_not_migrated" });
  await (await start()).stop();
  expect(existsSync(join(dataDir, "posthorn.db"))).toBe(true);
  await start({ migrate: false });
});

it("an address that others can reach is refused until there is a token", async () => {
  const listen = { host: "0.0.0.0", port: 0 };
  await expect(start({ listen })).rejects.toMatchObject({ code: "token_missing" });
});

it("a node serves what its roles say, and health always", async () => {
  const server = await start({ roles: ["dispatch"] });
  const statuses = await Promise.all(
    ["/healthz", "/readyz", "/metrics", "/api/v1/events"].map(
      async (path) => (await fetch(server.url + path)).status,
    ),
  );
  expect(statuses).toEqual([200, 200, 200, 404]);
});

const masterKey = Buffer.alloc(32, 7).toString("base64");

it("on Postgres a key must be given, and nothing answers without the database", async () => {
  await expect(start({ database })).rejects.toMatchObject({ code: "master_key_missing" });
  const away = "postgres://posthorn:CANARY@127.0.0.1:1/none";
  const refusal = start({ database: away, masterKey });
  await expect(refusal).rejects.toMatchObject({ code: "database_unreachable" });
  await expect(refusal).rejects.not.toThrow(/CANARY/);
});

it("on Postgres a role that may not create tables starts after `migrate`, and not before", async () => {
  await expect(start({ database, masterKey, migrate: false })).rejects.toMatchObject({
    code: "store_not_migrated",
  });
  const first = await start({ database, masterKey });
  expect(first.firstToken?.random).toBe(true);
  await start({ database, masterKey, migrate: false });
});

it("of two nodes on one Postgres, one takes an event and the other delivers it", async () => {
  const hook = await receiver();
  const firstToken = `phk_${"n".repeat(43)}`;
  const schema = "nodes";
  const api = await start({ database, schema, masterKey, firstToken, roles: ["api", "ingest"] });
  const other = await start({ database, schema, masterKey, roles: ["dispatch"] });
  expect([other.firstToken, other.withoutToken]).toEqual([undefined, false]);
  expect((await call(api, firstToken, "/endpoints", { url: hook.url })).status).toBe(201);
  await call(api, firstToken, "/events", { type: "order.paid", data: { amount: 2 } });
  await until(() => hook.bodies.length > 0);
  hook.close();
  expect(hook.bodies).toEqual([expect.stringContaining('{"amount":2}')]);
});

it("a node with another key than the first is refused on Postgres too", async () => {
  const other = Buffer.alloc(32, 8).toString("base64");
  const schema = "nodes";
  await expect(start({ database, schema, masterKey: other })).rejects.toMatchObject({
    code: "master_key_other",
  });
});
