// A host application that publishes, to be killed. Started by host.ts with its options as JSON; says "ready" with its
// port on stdout.
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { createReceiver, createSender, isPosthornError, standardWebhooks } from "posthorn";
import { nodeListener } from "posthorn/node";
import { arm, listenForFaults } from "./armed.mjs";
import { publicationOf, ROLLED_BACK } from "./outbox-work.mjs";

/** @import { IncomingMessage, ServerResponse } from "node:http" */
/** @import { ReceivedEvent } from "posthorn" */
/** @import { HostOptions } from "./work.mjs" */
/** @import { Order } from "./outbox-work.mjs" */

const SECRET = "whsec_cG9zdGhvcm4gY3Jhc2ggdGVzdHMgb25seSE=";
const options = /** @type {HostOptions} */ (JSON.parse(process.argv[2] ?? "{}"));

async function openHost() {
  if (options.store === "sqlite") return (await import("./sqlite-publisher.mjs")).sqlitePublisher(options);
  return (await import("./postgres-publisher.mjs")).postgresPublisher(options);
}
const host = await openHost();
const sender = createSender({ store: host.outbox });

/** @param {ReceivedEvent} event @param {{ tx?: unknown }} context */
function relayed(event, { tx }) {
  const body = Buffer.concat([Buffer.from(`${event.id}\n`), event.body]);
  const publication = { type: "relayed", id: event.id, key: `relay${event.id.at(-1)}`, body };
  return host.relay({ ref: event.id, publication, publisher: sender }, tx);
}

const receiver = createReceiver({
  store: host.store,
  sources: { shop: { verifier: standardWebhooks({ secrets: SECRET }), windowS: "forever" } },
  publisher: sender,
  handlers: { "*": /** @type {never} */ (relayed) },
});

/** @param {Order} order */
function publish(order) {
  const publication = publicationOf(order);
  if (order.how === "alone") return sender.publish(publication);
  const rollBack = order.how === "rolled_back";
  return host.beside((tx) => sender.publish(publication, { tx }), { ref: order.ref, rollBack });
}

/** @param {unknown} error */
function refusalOf(error) {
  const { message } = error instanceof Error ? error : { message: String(error) };
  // 409: certainly nothing was committed. 503: nobody knows.
  const certain = message === ROLLED_BACK || (isPosthornError(error) && error.code === "id_conflict");
  return { status: certain ? 409 : 503, said: message };
}

/** @type {Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => unknown>>} */
const routes = {
  "/shop": nodeListener(receiver, { source: "shop" }),
  "/publish": async (request, response) => {
    const order = /** @type {Order} */ (JSON.parse(String(await buffer(request))));
    const { status, said } = await publish(order).then(
      ({ duplicate }) => ({ status: 200, said: duplicate ? "duplicate" : "published" }),
      refusalOf,
    );
    response.writeHead(status, { "posthorn-verdict": encodeURIComponent(said) }).end();
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
