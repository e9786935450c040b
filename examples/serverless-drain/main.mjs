// Serverless: nothing runs between two calls. One function receives (AWS Lambda) and publishes in the same transaction; a
// second one, on a schedule, delivers what waits and removes what is old, each within a deadline.
import { once } from "node:events";
import { createServer } from "node:http";
import Database from "better-sqlite3";
import { createReceiver, createSender, generateSecret } from "posthorn";
import { createAddressGuard, createDispatcher } from "posthorn/dispatch";
import { lambdaHandler } from "posthorn/lambda";
import { stripe } from "posthorn/providers";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { signedRequest, TEST_SECRETS } from "posthorn/testing";

// In production: postgresStore({ client: new Pool({ max: 1 }) }), and no guard.
const db = new Database(":memory:");
await migrate(db);
const store = sqliteStore({ db, durability: "as_is" });
const guard = createAddressGuard({ allowHttp: true, allowAddresses: ["127.0.0.1"] });
const sender = createSender({ store, guard });

// 1. The function behind API Gateway, a Function URL or a load balancer. It flushes before it returns.
const receiver = createReceiver({
  store,
  publisher: sender,
  sources: { stripe: stripe({ secrets: TEST_SECRETS.stripe.verifying }) },
  handlers: {
    "stripe:invoice.paid":
      (event) =>
      (_tx, { publish }) =>
        publish({ type: "order.paid", data: { invoice: event.data.data.object.id } }),
  },
});
const receive = lambdaHandler(receiver);

// 2. The function on a schedule: every minute, say.
async function scheduled() {
  const dispatcher = createDispatcher({ store, guard });
  const { delivered, more } = await dispatcher.drain({ maxEvents: 500, deadlineMs: 20_000 });
  const { removed } = await receiver.purge({ maxRows: 10_000, deadlineMs: 5000 });
  return { delivered, more, removed };
}

// The customer, to whom events go.
let posts = 0;
const customer = createServer((request, response) => {
  posts++;
  request.resume().on("end", () => void response.writeHead(204).end());
});
await once(customer.listen(0, "127.0.0.1"), "listening");
const url = `http://127.0.0.1:${Object(customer.address()).port}/`;
await sender.endpoints.create({ url, secrets: generateSecret() });

for (const id of ["in_1", "in_2"]) {
  const { headers, body } = await signedRequest("stripe", { type: "invoice.paid", data: { id } });
  const { statusCode } = await receive({
    version: "2.0",
    rawPath: "/webhooks/stripe",
    rawQueryString: "",
    headers,
    requestContext: { http: { method: "POST" }, domainName: "api.example.com" },
    body: Buffer.from(body).toString("base64"),
    isBase64Encoded: true,
  });
  console.log(`received ${id}: ${statusCode}; the customer has ${posts} events`);
}
console.log(`scheduled: ${JSON.stringify(await scheduled())}; the customer has ${posts} events`);
console.log(`scheduled: ${JSON.stringify(await scheduled())}; the customer has ${posts} events`);
customer.close();
customer.closeAllConnections();
