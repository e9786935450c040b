import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { Client } from "pg";
import { systemClock } from "posthorn";
import type { Clock } from "posthorn";
import { createClient } from "posthorn/client";
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

// The drill of docs/runbook.md, "A backup was restored".

const got: IncomingHttpHeaders[] = [];
const receiver = createServer((request, response) => {
  got.push(request.headers);
  request.resume();
  response.end();
});
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
const dataDir = mkdtempSync(join(tmpdir(), "posthorn-drill-"));
afterAll(() => {
  receiver.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const firstToken = `phk_${"a".repeat(43)}`;

/** A database that can be backed up and restored. */
interface Drilled {
  readonly settings: Partial<Settings>;
  readonly flags: readonly string[];
  /** While a server runs, or while none does. */
  readonly backsUp: "running" | "stopped";
  backUp(): Promise<void>;
  restore(): Promise<void>;
}

function onSqlite(): Drilled {
  const file = join(dataDir, "posthorn.db");
  return {
    settings: { dataDir },
    flags: ["--data-dir", dataDir],
    backsUp: "running",
    backUp: async () => {
      const copy = new Database(file, { readonly: true });
      await copy.backup(join(dataDir, "copy.db"));
      copy.close();
    },
    restore: () => {
      for (const part of ["-wal", "-shm"]) rmSync(file + part, { force: true });
      copyFileSync(join(dataDir, "copy.db"), file);
      return Promise.resolve();
    },
  };
}

/** The backup is a copy that Postgres itself makes of the whole database: the tests have no `pg_dump` of its version. */
async function onPostgres(): Promise<Drilled> {
  const database = await freshDatabase({ migrated: false });
  const kept = await freshDatabase({ migrated: false });
  const [name, copy] = [database, kept].map((url) => new URL(url).pathname.slice(1));
  const replace = async (from: string | undefined, to: string | undefined): Promise<void> => {
    const owner = new Client({
      connectionString: Object.assign(new URL(database), { pathname: "/postgres" }).href,
    });
    await owner.connect();
    await owner.query(`drop database ${to} with (force)`);
    await owner.query(`create database ${to} template ${from}`);
    await owner.end();
  };
  return {
    settings: {
      database,
      masterKey: Buffer.alloc(32, 7).toString("base64"),
      dataDir: join(dataDir, "postgres"),
    },
    flags: ["--database", database],
    backsUp: "stopped",
    backUp: () => replace(name, copy),
    restore: () => replace(copy, name),
  };
}

async function start(given: Partial<Settings>): Promise<RunningServer> {
  const settings = defaultSettings({
    listen: { host: "127.0.0.1", port: 0 },
    dev: true,
    firstToken,
    logLevel: "silent",
    ...given,
  });
  const output = { write: () => undefined, isTty: false, colour: false };
  return startServer(settings, { log: createLog(settings, output, "node"), node: "node" });
}

async function deliver(server: RunningServer, id: string): Promise<IncomingHttpHeaders> {
  const client = createClient({ url: server.url, token: firstToken });
  await client.events.publish({ type: "order.paid", key: "k1", id, data: { id } });
  const found = (): IncomingHttpHeaders | undefined => got.find((headers) => headers["webhook-id"] === id);
  while (found() === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  return found() ?? {};
}

async function restored(
  flags: readonly string[],
  clock: Clock = systemClock,
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const terminal = fakeTerminal({});
  const context = createCommandContext({ terminal, environment: {}, clock });
  const code = await runCli(["restored", "--yes", ...flags], context);
  return { code, out: terminal.out(), err: terminal.err() };
}

it.each([
  ["sqlite", onSqlite],
  ["postgres", onPostgres],
])(
  "after a restore on %s, a sequence that was given since the backup comes again in a higher generation",
  async (kind, open) => {
    const drilled = await open();
    let server = await start(drilled.settings);
    const { port } = receiver.address() as AddressInfo;
    const client = createClient({ url: server.url, token: firstToken });
    await client.endpoints.create({ id: "ep_1", url: `http://127.0.0.1:${port}/` });
    await deliver(server, `${kind}-1`);
    if (drilled.backsUp === "stopped") await server.stop();
    await drilled.backUp();
    if (drilled.backsUp === "stopped") server = await start(drilled.settings);
    const lost = await deliver(server, `${kind}-lost`);
    // While a server runs, its workers would go on under the old generations.
    expect(await restored(drilled.flags)).toMatchObject({ code: 1, out: "" });
    await server.stop();

    await drilled.restore();
    expect(await restored(drilled.flags)).toMatchObject({
      code: 0,
      out: expect.stringContaining("Raised the generation of 1 lane.") as string,
    });

    const after = await start(drilled.settings);
    const other = await deliver(after, `${kind}-other`);
    await after.stop();
    expect(other["posthorn-sequence"]).toBe(lost["posthorn-sequence"]);
    expect(BigInt(String(other["posthorn-generation"]))).toBeGreaterThan(
      BigInt(String(lost["posthorn-generation"])),
    );
  },
  60_000,
);

it("a directory without a database is refused, and stays without one", async () => {
  const empty = mkdtempSync(join(dataDir, "empty-"));
  const { code, err } = await restored(["--data-dir", empty]);
  expect([code, err]).toEqual([1, expect.stringContaining(`There is no database in ${empty}.`)]);
  expect(readdirSync(empty)).toEqual([]);
});
