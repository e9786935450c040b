// What a host that publishes answers to: publications of its own, and events that its receiver passes on.
import { buffer } from "node:stream/consumers";
import { createReceiver, createSender, isPosthornError, standardWebhooks } from "posthorn";
import { nodeListener } from "posthorn/node";
import { publicationOf, ROLLED_BACK } from "./outbox-work.mjs";

/** @import { ReceivedEvent } from "posthorn" */
/** @import { HostOptions } from "./work.mjs" */
/** @import { Order, PublishingHost } from "./outbox-work.mjs" */
/** @import { Routes } from "./serve.mjs" */

const SECRET = "whsec_cG9zdGhvcm4gY3Jhc2ggdGVzdHMgb25seSE=";

// Only what is needed is loaded: a host is started a hundred times in a run.
/** @param {HostOptions} options */
export async function openPublisher(options) {
  if (options.store === "sqlite") return (await import("./sqlite-publisher.mjs")).sqlitePublisher(options);
  return (await import("./postgres-publisher.mjs")).postgresPublisher(options);
}

/** @param {PublishingHost} host @returns {Routes} */
export function publishingRoutes(host) {
  const sender = createSender({ store: host.outbox });

  /** @param {ReceivedEvent} event @param {{ tx?: unknown }} context */
  const relayed = (event, { tx }) => {
    const body = Buffer.concat([Buffer.from(`${event.id}\n`), event.body]);
    const publication = { type: "relayed", id: event.id, key: `relay${event.id.slice(-2)}`, body };
    return host.relay({ ref: event.id, publication, publisher: sender }, tx);
  };
  const receiver = createReceiver({
    store: host.store,
    sources: { shop: { verifier: standardWebhooks({ secrets: SECRET }), windowS: "forever" } },
    publisher: sender,
    handlers: { "*": /** @type {never} */ (relayed) },
  });

  /** @param {Order} order */
  const publish = (order) => {
    const publication = publicationOf(order);
    if (order.how === "alone") return sender.publish(publication);
    const rollBack = order.how === "rolled_back";
    return host.beside((tx) => sender.publish(publication, { tx }), { ref: order.ref, rollBack });
  };

  return {
    "/shop": nodeListener(receiver, { source: "shop" }),
    "/publish": async (request, response) => {
      const order = /** @type {Order} */ (JSON.parse(String(await buffer(request))));
      const { status, said } = await publish(order).then(
        ({ duplicate }) => ({ status: 200, said: duplicate ? "duplicate" : "published" }),
        refusalOf,
      );
      response.writeHead(status, { "posthorn-verdict": encodeURIComponent(said) }).end();
    },
  };
}

/** @param {unknown} error */
function refusalOf(error) {
  const { message } = error instanceof Error ? error : { message: String(error) };
  // 409: certainly nothing was committed. 503: nobody knows.
  const certain = message === ROLLED_BACK || (isPosthornError(error) && error.code === "id_conflict");
  return { status: certain ? 409 : 503, said: message };
}
