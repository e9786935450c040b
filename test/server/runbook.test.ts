import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "posthorn/client";
import { signedRequest, TEST_SECRETS } from "posthorn/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runCli } from "../../server/src/cli.js";
import { createCommandContext } from "../../server/src/commands/command-context.js";
import { startServer } from "../../server/src/compose.js";
import type { RunningServer } from "../../server/src/compose.js";
import { defaultSettings } from "../../server/src/config/load.js";
import { createLog } from "../../server/src/observe/log.js";
import { fakeTerminal } from "../cli/fake-terminal.js";

// Runs the incidents of docs/runbook.md on a real server: what its blocks show is what the commands print, but for ids,
// times and ports. `POSTHORN_RUNBOOK=path npx vitest run --project services test/server/runbook.test.ts` writes the blocks.

const PAGE = new URL("../../docs/runbook.md", import.meta.url);
const token = `phk_${"a".repeat(43)}`;
const dataDir = mkdtempSync(join(tmpdir(), "posthorn-runbook-"));
let answer = 200;
const receiver = createServer((request, response) => {
  request.resume();
  response.writeHead(answer).end();
});
let server: RunningServer;
const blocks: string[] = [];

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const settings = defaultSettings({
    dataDir,
    listen: { host: "127.0.0.1", port: 0 },
    dev: true,
    firstToken: token,
    logLevel: "silent",
  });
  const output = { write: () => undefined, isTty: false, colour: false };
  server = await startServer(settings, { log: createLog(settings, output, "node"), node: "node" });
});

afterAll(async () => {
  await server.stop();
  receiver.close();
  rmSync(dataDir, { recursive: true, force: true });
  const path = process.env["POSTHORN_RUNBOOK"];
  if (path !== undefined) writeFileSync(path, blocks.join("\n"));
});

/** Without what differs between two runs. */
function still(text: string): string {
  return text
    .replaceAll(/\b(rej|tok|evt|req)_\w+/g, "$1_…")
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:…")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/\b\d+(\.\d+)? (ms|s|min|h|d)\b( \d+ (ms|s|min|h)\b)?/g, "…")
    .replaceAll(/(just now|now|… ago|in …|a moment ago)/g, "…")
    .replaceAll(/\b[0-9a-f]{12}\b/g, "…")
    .replaceAll(/[ \t]+/g, " ")
    .replaceAll(/ ?\n/g, "\n");
}

/** Runs a command as the page shows it, and finds its output there. */
async function shows(command: string): Promise<string> {
  const terminal = fakeTerminal({ columns: 120 });
  const context = createCommandContext({
    terminal,
    environment: { POSTHORN_URL: server.url, POSTHORN_TOKEN: token },
  });
  await runCli(command.split(" ").slice(1), context);
  const text = `$ ${command}\n${terminal.out()}`.trimEnd();
  blocks.push(text);
  if (process.env["POSTHORN_RUNBOOK"] === undefined)
    expect(still(readFileSync(PAGE, "utf8"))).toContain(still(text));
  return text;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10));
}

it("every incident of the runbook is met by the commands and the output that it shows", async () => {
  const client = createClient({ url: server.url, token });
  const { port } = receiver.address() as AddressInfo;
  const waits = { waitsMs: [3_600_000] };
  const state = async (event: string) => (await client.deliveries.list({ event })).items[0]?.state;
  const publish = (id: string, key: string) =>
    client.events.publish({ type: "order.paid", id, key, data: { id } });
  await client.endpoints.create({ id: "ep_shop", url: `http://127.0.0.1:${port}/`, retry: waits });

  // An endpoint is down, and comes back.
  answer = 503;
  await publish("order-1", "customer-7");
  await publish("order-2", "customer-7");
  await until(async () => (await state("order-1")) === "retrying");
  await shows("posthorn lanes");
  await shows("posthorn deliveries show dlv_1_1");
  answer = 200;
  await shows("posthorn retry --endpoint ep_shop");
  await until(async () => (await state("order-2")) === "delivered");
  await shows("posthorn events show order-1");

  // It is gone.
  answer = 410;
  await publish("order-3", "customer-7");
  await until(async () => (await client.endpoints.get("ep_shop")).state === "disabled");
  await shows("posthorn endpoint list");
  answer = 200;
  await shows("posthorn endpoint resume ep_shop");
  await until(async () => (await state("order-3")) === "delivered");

  // A poison event.
  answer = 413;
  await publish("order-4", "customer-8");
  await publish("order-5", "customer-8");
  await until(async () => (await state("order-4")) === "dead");
  answer = 200;
  await shows("posthorn dead");
  const [lane] = (await client.lanes.list()).items;
  await shows(`posthorn skip ${lane?.id} --yes`);
  await until(async () => (await state("order-5")) === "delivered");

  // A source's secret was rotated.
  await client.sources.create({
    name: "stripe",
    scheme: "stripe",
    secrets: ["whsec_the_old_secret_of_this_endpoint"],
  });
  const { headers, body } = await signedRequest("stripe", {
    id: "evt_1",
    secrets: TEST_SECRETS.stripe.verifying,
  });
  await fetch(`${server.url}/in/stripe`, { method: "POST", headers, body: Buffer.from(body) });
  await until(async () => (await client.rejected.list()).items.length > 0);
  await shows("posthorn rejected");
  await client.sources.update("stripe", { secrets: [TEST_SECRETS.stripe.verifying] });
  await shows("posthorn rejected retry --source stripe");

  // A token has leaked.
  await client.tokens.create({ name: "ci", scope: "read" });
  await shows("posthorn token list");
});
