// Signs an event and posts it to a receiver on this machine: once, once more, and once with its body parsed and
// written again on the way, as frameworks do. Prints what the receiver makes of each. Run it with `npm start`.
import { once } from "node:events";
import { createServer } from "node:http";
import { createReceiver, createSigner, generateSecret, sign, standardWebhooks } from "posthorn";
import { memoryStore } from "posthorn/memory";
import { nodeListener } from "posthorn/node";

const secret = generateSecret();

// The receiving side. On Postgres or SQLite the handler's writes and the event's row commit together.
const receiver = createReceiver({
  store: memoryStore(),
  sources: { acme: standardWebhooks({ secrets: secret }) },
  handlers: {
    "invoice.paid": (event) => console.log(`  handler   ${event.id}: ${event.data.data.amount} cents`),
  },
  observer: (signal) => {
    if (signal.kind === "event_received") console.log(`  verdict   ${signal.verdict}`);
    if (signal.kind === "signature_refused") console.log(`  refused   ${signal.diagnosis.join(" ")}`);
  },
});
const server = createServer(nodeListener(receiver, { source: "acme" }));
await once(server.listen(0, "127.0.0.1"), "listening");
const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());

// The sending side. The signature covers id, time and these very bytes.
const body = '{"type": "invoice.paid", "data": {"amount": 14900}}';
const headers = await sign(createSigner({ secrets: secret }), { id: "evt_first", body: Buffer.from(body) });

/** @param {string} sent */
async function post(sent) {
  const reply = await fetch(`http://127.0.0.1:${port}/webhooks`, { method: "POST", headers, body: sent });
  console.log(`  answered  ${reply.status}`);
}

console.log("An event as it was signed:");
await post(body);
console.log("The same event again:");
await post(body);
console.log("The same event, its JSON parsed and written again on the way:");
await post(JSON.stringify(JSON.parse(body)));

server.close();
server.closeAllConnections();
