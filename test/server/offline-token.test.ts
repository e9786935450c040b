import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, expect, it } from "vitest";
import { runCli } from "../../server/src/cli.js";
import { createCommandContext } from "../../server/src/commands/command-context.js";
import { startServer } from "../../server/src/compose.js";
import type { RunningServer } from "../../server/src/compose.js";
import { defaultSettings } from "../../server/src/config/load.js";
import type { Settings } from "../../server/src/config/settings.js";
import { createLog } from "../../server/src/observe/log.js";
import { fakeTerminal } from "../cli/fake-terminal.js";
import { freshDatabase } from "../services.js";

const database = await freshDatabase({ migrated: false });
const root = mkdtempSync(join(tmpdir(), "posthorn-offline-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function start(change: Partial<Settings>): Promise<RunningServer> {
  const settings = defaultSettings({ listen: { host: "127.0.0.1", port: 0 }, ...change });
  const output = { write: () => undefined, isTty: false, colour: false };
  return startServer(settings, { log: createLog(settings, output, "node"), node: "node" });
}

async function create(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: number; out: string; err: string; token: string }> {
  // Narrower than a token, which must be shown whole.
  const terminal = fakeTerminal({ columns: 30 });
  const code = await runCli(["token", "create", ...args], createCommandContext({ terminal, environment }));
  const out = terminal.out();
  return { code, out, err: terminal.err(), token: /phk_[\w-]{43}/.exec(out)?.[0] ?? "" };
}

async function statusWith(url: string, token: string, body?: object): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const init = body && { method: "POST", body: JSON.stringify(body) };
  return (await fetch(`${url}/api/v1/tokens`, { headers, ...init })).status;
}

it("beside a server that runs on SQLite, a token is made that opens everything at once, and is shown once", async () => {
  const dataDir = join(root, "running");
  const server = await start({ dataDir });
  try {
    const made = await create(["rescue", "--offline", "--data-dir", dataDir]);
    expect(made).toMatchObject({ code: 0, err: expect.stringContaining(dataDir) as string });
    expect(made.out.split(made.token)).toHaveLength(2);
    expect(await statusWith(server.url, made.token, { name: "next", scope: "full" })).toBe(201);
  } finally {
    await server.stop();
  }
});

it("while no server runs, it is there at the next start, and the directory is left free", async () => {
  const dataDir = join(root, "stopped");
  const first = await start({ dataDir });
  await first.stop();
  const before = readdirSync(dataDir).toSorted();
  const { token } = await create(["rescue", "--offline", "--read"], { POSTHORN_DATA_DIR: dataDir });
  expect(readdirSync(dataDir).toSorted()).toEqual(before);
  const second = await start({ dataDir });
  try {
    expect(await statusWith(second.url, token)).toBe(200);
    expect(await statusWith(second.url, token, { name: "next", scope: "full" })).toBe(403);
  } finally {
    await second.stop();
  }
});

it("on Postgres it needs the database's URL and no master key", async () => {
  const masterKey = Buffer.alloc(32, 7).toString("base64");
  const unready = await create(["rescue", "--offline", "--database", database]);
  expect(unready).toMatchObject({ code: 1, token: "" });
  expect(unready.err).toContain("are older than this version");
  const server = await start({ database, masterKey, dataDir: join(root, "none") });
  try {
    const made = await create(["rescue", "--offline", "--json"], { POSTHORN_DATABASE: database });
    expect(JSON.parse(made.out)).toMatchObject({ name: "rescue", scope: "full", token: made.token });
    expect(await statusWith(server.url, made.token)).toBe(200);
  } finally {
    await server.stop();
  }
});

it("where there is no database, none is made", async () => {
  const dataDir = join(root, "missing");
  const { code, err } = await create(["rescue", "--offline", "--data-dir", dataDir]);
  expect(code).toBe(1);
  expect(err).toContain(join(dataDir, "posthorn.db"));
  expect(readdirSync(root)).not.toContain("missing");
  new Database(join(root, "posthorn.db")).close();
  expect(await create(["rescue", "--offline", "--data-dir", root])).toMatchObject({ code: 1, token: "" });
});

it.each([
  [["rescue", "--offline", "--url", "https://gate.example.com"], "--offline asks none"],
  [["rescue", "--data-dir", "elsewhere"], "Add --offline"],
  [["bad\nname", "--offline", "--data-dir", root], "1 to 100 characters"],
  [["rescue", "--offline", "--data-dir", root, "--expires", "2001-01-01"], "not in the future"],
])("%j is a wrong use", async (args, told) => {
  const { code, err } = await create(args);
  expect(code).toBe(2);
  expect(err).toContain(told);
});
