import { deepStrictEqual } from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type * as Posthorn from "posthorn/verify";
import type { Case } from "../case.js";
import type { Consumer } from "../consumer.js";
import { bundleForWeb } from "../consumer.js";
import type { Report } from "../expected-report.js";
import { checkReport, FETCH_DOOR } from "../expected-report.js";
import { whyMissing, workerdBinary } from "../runtimes.js";
import { withWorkerd } from "../serve.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const REQUEST_TIMEOUT_MS = 60_000;

const promise = (column: string, name: string, run: Case["run"]): Case => ({
  topic: "workerd",
  name,
  column,
  skip: whyMissing("workerd", workerdBinary),
  run,
});

/** The same promises in a worker: no Node, WebCrypto only, no start of a file. */
export const workerdCases: readonly Case[] = [
  promise(
    "web build",
    "signs, verifies and refuses, and judges every vector, without anything of Node",
    async (consumer) => {
      return serve(consumer, async (address) => {
        const response = await fetch(address, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
        if (!response.ok) throw new Error(`The worker answered ${response.status}: ${await response.text()}`);
        const report = (await response.json()) as Report;
        return checkReport(report, consumer.vectors, "sync_unavailable");
      });
    },
  ),
  promise("receiver", "hands over exact bytes by posthorn/fetch, and handles each event once", (consumer) =>
    serve(consumer, async (address) => {
      const response = await fetch(new URL("/fetch-door", address), {
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      if (!response.ok) throw new Error(`The worker answered ${response.status}: ${await response.text()}`);
      deepStrictEqual(await response.json(), FETCH_DOOR);
      return undefined;
    }),
  ),
  promise("over HTTP", "accepts a signed request that came over HTTP, and refuses it changed", (consumer) =>
    serve(consumer, async (address) => {
      const { createSigner, sign } = await importPacked(consumer);
      const body = new TextEncoder().encode('{"type":"invoice.paid"}');
      const headers = await sign(createSigner({ secrets: SECRET }), { id: "evt_1", body });
      const other = new TextEncoder().encode('{"type":"invoice.sent"}');
      deepStrictEqual(await post(address, headers, body), { status: 204, text: "" });
      deepStrictEqual(await post(address, headers, other), { status: 401, text: "signature_mismatch" });
      return undefined;
    }),
  ),
];

async function serve<Result>(consumer: Consumer, use: (address: string) => Promise<Result>): Promise<Result> {
  const bundle = await bundleForWeb(consumer, "worker.mjs", "worker.web.mjs");
  const config = join(consumer.folder, "bundles/worker.capnp");
  await writeFile(config, configOf(basename(bundle)));
  return withWorkerd({ binary: workerdBinary ?? "", config, cwd: consumer.folder }, use);
}

// Without the flag nodejs_compat: what is proved here holds for every runtime that has only the web's globals.
function configOf(module: string): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = .worker) ],
  sockets = [ (name = "http", address = "127.0.0.1:0", http = (), service = "main") ],
);
const worker :Workerd.Worker = (
  modules = [ (name = "worker", esModule = embed "${module}") ],
  bindings = [ (name = "WEBHOOK_SECRET", text = "${SECRET}") ],
  compatibilityDate = "2025-01-01",
);
`;
}

async function post(
  address: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array<ArrayBuffer>,
): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  const response = await fetch(address, { method: "POST", headers, body, signal });
  return { status: response.status, text: await response.text() };
}

type Signing = Pick<typeof Posthorn, "createSigner" | "sign">;

function importPacked({ folder }: Consumer): Promise<Signing> {
  return import(join(folder, "node_modules/posthorn/dist/verify.js")) as Promise<Signing>;
}
