// A host application that takes webhooks, to be killed. Started by host.ts with its options as JSON; says "ready"
// with its port on stdout.
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { createReceiver, standardWebhooks } from "posthorn";
import { nodeListener } from "posthorn/node";
import { arm, listenForFaults } from "./armed.mjs";
import { workOf } from "./work.mjs";

/** @import { IncomingMessage, ServerResponse } from "node:http" */
/** @import { InboxStore, ReceivedEvent, Receiver } from "posthorn" */
/** @import { HostOptions } from "./work.mjs" */

const SECRET = "whsec_cG9zdGhvcm4gY3Jhc2ggdGVzdHMgb25seSE=";
const options = /** @type {HostOptions} */ (JSON.parse(process.argv[2] ?? "{}"));

// Only what is needed is loaded: a host is started a hundred times in a run.
async function openHost() {
  if (options.store === "sqlite") return (await import("./sqlite-host.mjs")).sqliteHost(options);
  if (options.driver === "postgres") return (await import("./postgres-js-host.mjs")).postgresJsHost(options);
  return (await import("./postgres-host.mjs")).postgresHost(options);
}
const host = await openHost();

// Fails each flaky event at its first run in this process, after its writes.
const failed = new Set();

/** @param {ReceivedEvent} event @param {{ tx?: unknown }} context */
function handler(event, { tx }) {
  const fails = event.type === "flaky" && !failed.has(event.id);
  if (fails) failed.add(event.id);
  const result = event.type === "quiet" ? undefined : { by: process.pid };
  return host.handle(workOf(event), { fails, result, tx });
}

/** @param {InboxStore<any>} store @returns {Receiver} */
function receiverOver(store) {
  const { handlerDeadlineMs = 10_000 } = options;
  const verifier = standardWebhooks({ secrets: SECRET });
  return createReceiver({
    store,
    sources: { shop: { verifier, windowS: "forever" } },
    handlers: { "*": /** @type {never} */ (handler) },
    handlerDeadlineMs,
  });
}

/** A store whose look-up never knows, as one does whose pool is saturated: duplicates go the long way. */
/** @param {InboxStore<any>} store @returns {InboxStore<any>} */
function blind(store) {
  return new Proxy(store, {
    get(target, name) {
      if (name === "find") return () => Promise.resolve(undefined);
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** The bug of answering before the work is done. */
/** @param {Receiver} inner @returns {Receiver} */
function hasty(inner) {
  return {
    ...inner,
    maxBodyBytes: (source) => inner.maxBodyBytes(source),
    receive: (source, request) => {
      setTimeout(() => void inner.receive(source, request), 5);
      return Promise.resolve({ status: 200, headers: { "posthorn-verdict": "applied" } });
    },
  };
}

const receiver = receiverOver(host.store);
const listening = options.plant === "reply_first" ? hasty(receiver) : receiver;

/** @param {IncomingMessage} request @param {() => Promise<{ duplicate: boolean }>} decide */
async function verdictOf(request, decide) {
  try {
    const { duplicate } = await decide();
    return { status: 200, verdict: duplicate ? "duplicate" : "applied" };
  } catch (error) {
    return { status: 503, verdict: error instanceof Error ? error.message : `${request.url} threw` };
  }
}

/** @type {Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => unknown>>} */
const routes = {
  "/shop": nodeListener(listening, { source: "shop" }),
  "/blind": nodeListener(receiverOver(blind(host.store)), { source: "shop" }),
  "/dedup": async (request, response) => {
    const body = await buffer(request);
    const id = String(request.headers["webhook-id"]);
    const work = workOf({ tenant: "default", source: "dedup", id, body });
    const { status, verdict } = await verdictOf(request, () => host.dedup(work));
    response.writeHead(status, { "posthorn-verdict": encodeURIComponent(verdict) }).end();
  },
  "/pooled": async (request, response) => {
    const { id } = JSON.parse(String(await buffer(request)));
    const { status, verdict } = await verdictOf(request, () => host.pooled(id));
    response.writeHead(status, { "posthorn-verdict": encodeURIComponent(verdict) }).end();
  },
  "/flush": async (_request, response) => {
    await receiver.flush();
    response.writeHead(204).end();
  },
  "/arm": async (request, response) => {
    arm(JSON.parse(String(await buffer(request))));
    response.writeHead(204).end();
  },
};

listenForFaults();
const server = createServer((request, response) => void routes[request.url ?? ""]?.(request, response));
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(`ready ${typeof address === "object" ? address?.port : ""}`);
});
// Whoever started this process is gone: nobody would ever end it.
process.stdin.on("close", () => process.exit());
process.stdin.resume();
