import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fetchHandler } from "posthorn/fetch";
import { signedRequest } from "posthorn/testing";
import { afterAll, expect, it } from "vitest";
import { blocksOf } from "../doc-snippets/blocks.js";
import { NOT_UTF8, postInto, setStage, signed, SPACED } from "./stage.js";

// What a Worker gets is a Request of the web, as here; on workerd itself, the lane `consumers` runs the door posthorn/fetch.

const root = fileURLToPath(new URL("../..", import.meta.url));
mkdirSync(join(root, ".cache"), { recursive: true });
const folder = mkdtempSync(join(root, ".cache/workers-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What the receiver tells after code of the host has seen the request. */
async function after(before: (request: Request) => Promise<Request>, body: string | Uint8Array) {
  const { receiver, refusals, signals } = setStage();
  const handler = fetchHandler(receiver, { source: "acme" });
  const sent = await signed(body);
  // As it comes over HTTP: what is longer or shorter than that was changed on the way.
  const headers = { ...sent.headers, "content-length": String(sent.body.length) };
  const post = postInto(async (request) => handler(await before(request)));
  const { status } = await post({ ...sent, headers });
  return { status, refusals, refused: signals.find(({ kind }) => kind === "signature_refused") };
}

it.each(["text", "json", "arrayBuffer"] as const)(
  "after request.%s() the body is gone: body_consumed with the cure",
  async (read) => {
    const found = await after(async (request) => {
      await request[read]();
      return request;
    }, SPACED);
    expect(found.status).toBe(500);
    expect(found.refusals).toMatchObject([
      { code: "body_consumed", why: expect.stringContaining("request.clone()") as string },
    ]);
  },
);

it("after a copy of the request was read the exact bytes are still there", async () => {
  const found = await after(async (request) => {
    await request.clone().text();
    return request;
  }, NOT_UTF8);
  expect([found.status, found.refused]).toEqual([204, undefined]);
});

it("a request that is made anew of its text has lost bytes that are not UTF-8: its signature fails", async () => {
  const method = "POST";
  const anew = async (request: Request) =>
    new Request(request.clone(), { method, body: await request.text() });
  expect(await after(anew, NOT_UTF8)).toMatchObject({
    status: 401,
    refused: { code: "signature_mismatch" },
  });
  const exact = async (request: Request) =>
    new Request(request.clone(), { method, body: await request.arrayBuffer() });
  expect((await after(exact, NOT_UTF8)).status).toBe(204);
});

const RECEIVER = `import Database from "better-sqlite3";
import { createReceiver } from "posthorn";
import { stripe } from "posthorn/providers";
import { migrate, sqliteStore } from "posthorn/sqlite";
const db = new Database(":memory:");
await migrate(db);
export const store = sqliteStore({ db });
export const receiver = createReceiver({
  store,
  sources: { stripe: stripe({ secrets: "whsec_of_this_test" }) },
  handlers: { "*": () => () => undefined },
});
`;

interface Worker {
  readonly default: {
    fetch(
      request: Request,
      env: unknown,
      context: { waitUntil(work: Promise<unknown>): void },
    ): Promise<Response>;
  };
}

it("the documented Worker writes the receipts of duplicates after its answer", async () => {
  const page = readFileSync(join(root, "docs/frameworks/workers.md"), "utf8");
  const block = blocksOf("workers.md", page).find(({ code }) => code.startsWith("// worker.ts"));
  writeFileSync(join(folder, "worker.ts"), block?.code ?? "");
  writeFileSync(join(folder, "receiver.ts"), RECEIVER);
  const { default: worker } = (await import(join(folder, "worker.ts"))) as Worker;
  const { store } = (await import(join(folder, "receiver.ts"))) as {
    readonly store: { read(key: object): Promise<{ readonly receipts: number } | undefined> };
  };
  const { headers, body } = await signedRequest("stripe", {
    id: "evt_1",
    type: "a",
    secrets: "whsec_of_this_test",
  });
  const later: Promise<unknown>[] = [];
  for (const verdict of ["applied", "duplicate"]) {
    const request = new Request("https://example.com/", { method: "POST", headers: { ...headers }, body });
    const reply = await worker.fetch(request, {}, { waitUntil: (work) => void later.push(work) });
    expect(reply.headers.get("posthorn-verdict")).toBe(verdict);
  }
  await Promise.all(later);
  expect(await store.read({ tenant: "default", source: "stripe", id: "evt_1" })).toMatchObject({
    receipts: 2,
  });
});
