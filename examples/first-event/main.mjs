// Signs an event, posts it to a receiver on this machine, and prints the verdict: first as sent, then
// as a framework that parsed the body would hand it over. Run it with `npm start`.
import { once } from "node:events";
import { createServer } from "node:http";
import { createSigner, diagnose, generateSecret, isPosthornError } from "posthorn";
import { readEvents, sign, standardWebhooks, verify } from "posthorn";

const secret = generateSecret();

// The receiving side. `verify` gets the exact bytes; whatever is wrong is told here, never to the caller.
const verifier = standardWebhooks({ secrets: secret, diagnose });
const receiver = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const verified = await verify(verifier, { headers: request.headers, body: Buffer.concat(chunks) });
    for (const { type, id } of readEvents(verified)) {
      console.log(`  accepted  ${type} ${id}, signed with ${verified.key}`);
    }
    response.writeHead(204).end();
  } catch (error) {
    console.log(`  refused   ${isPosthornError(error) ? error.message : error}`);
    response.writeHead(401).end();
  }
});
await once(receiver.listen(0, "127.0.0.1"), "listening");
const { port } = /** @type {import("node:net").AddressInfo} */ (receiver.address());
const url = `http://127.0.0.1:${port}/webhooks`;

// The sending side. The signature covers id, time and these very bytes.
const body = Buffer.from('{"type": "invoice.paid", "data": {"amount": 14900}}');
const headers = await sign(createSigner({ secrets: secret }), { id: "evt_first", body });

console.log("An event as it was signed:");
console.log(`  answered  ${(await fetch(url, { method: "POST", headers, body })).status}`);

console.log("The same event, its JSON parsed and written again on the way:");
const rewritten = JSON.stringify(JSON.parse(body.toString()));
console.log(`  answered  ${(await fetch(url, { method: "POST", headers, body: rewritten })).status}`);

receiver.close();
receiver.closeAllConnections();
