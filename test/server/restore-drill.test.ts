import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { createClient } from "posthorn/client";
import { afterAll, expect, it } from "vitest";
import { runCli } from "../../server/src/cli.js";
import { createCommandContext } from "../../server/src/commands/command-context.js";
import { startServer } from "../../server/src/compose.js";
import type { RunningServer } from "../../server/src/compose.js";
import { defaultSettings } from "../../server/src/config/load.js";
import { createLog } from "../../server/src/observe/log.js";
import { fakeTerminal } from "../cli/fake-terminal.js";

// The drill of docs/runbook.md, "A backup was restored".

const dataDir = mkdtempSync(join(tmpdir(), "posthorn-drill-"));
const file = join(dataDir, "posthorn.db");
const got: IncomingHttpHeaders[] = [];
const receiver = createServer((request, response) => {
  got.push(request.headers);
  request.resume();
  response.end();
});
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
afterAll(() => {
  receiver.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const firstToken = `phk_${"a".repeat(43)}`;

async function start(): Promise<RunningServer> {
  const settings = defaultSettings({
    dataDir,
    listen: { host: "127.0.0.1", port: 0 },
    dev: true,
    firstToken,
    logLevel: "silent",
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

async function restored(): Promise<{ readonly code: number; readonly out: string }> {
  const terminal = fakeTerminal({});
  const context = createCommandContext({ terminal, environment: {} });
  const code = await runCli(["restored", "--yes", "--data-dir", dataDir], context);
  return { code, out: terminal.out() };
}

it("after a restore, a sequence that was given since the backup comes again in a higher generation", async () => {
  const before = await start();
  const { port } = receiver.address() as AddressInfo;
  const client = createClient({ url: before.url, token: firstToken });
  await client.endpoints.create({ id: "ep_1", url: `http://127.0.0.1:${port}/` });
  await deliver(before, "e1");
  const copy = new Database(file, { readonly: true });
  await copy.backup(join(dataDir, "copy.db"));
  copy.close();
  const lost = await deliver(before, "lost");
  // While a server runs, its workers would go on under the old generations.
  expect(await restored()).toMatchObject({ code: 1 });
  await before.stop();

  for (const part of ["-wal", "-shm"]) rmSync(file + part, { force: true });
  copyFileSync(join(dataDir, "copy.db"), file);
  expect(await restored()).toEqual({
    code: 0,
    out: expect.stringContaining("Raised the generation of 1 lane."),
  });

  const after = await start();
  const other = await deliver(after, "other");
  await after.stop();
  expect(other["posthorn-sequence"]).toBe(lost["posthorn-sequence"]);
  expect(BigInt(String(other["posthorn-generation"]))).toBeGreaterThan(
    BigInt(String(lost["posthorn-generation"])),
  );
});
