// Serverless, stored first: nothing runs between two calls. One function stores a webhook and answers the provider at once
// (AWS Lambda); a second one, on a schedule, runs the handlers of what waits, within a deadline. A handler that fails is
// tried again by a later call, and the events of its customer wait for it.
import Database from "better-sqlite3";
import { createReceiver, createWorker } from "posthorn";
import { lambdaHandler } from "posthorn/lambda";
import { stripe } from "posthorn/providers";
import { migrate, sqliteStore } from "posthorn/sqlite";
import { createFakeClock, signedRequest, TEST_SECRETS } from "posthorn/testing";

// In production: postgresStore({ client: new Pool({ max: 2 }) }), and no clock.
const clock = createFakeClock({ at: Date.now() });
const db = new Database(":memory:");
await migrate(db);
db.exec("create table paid (invoice text primary key)");
const store = sqliteStore({ db, clock, durability: "as_is" });

// 1. The function behind API Gateway, a Function URL or a load balancer. It needs no handlers.
const receiver = createReceiver({
  mode: "store_first",
  store,
  clock,
  sources: {
    stripe: {
      verifier: stripe({ secrets: TEST_SECRETS.stripe.verifying, clock }),
      key: { json: "/data/object/customer" },
    },
  },
});
export const receive = lambdaHandler(receiver);

// 2. The function on a schedule: every minute, say. `more` is true where the deadline came first.
let ledgerIsDown = true;
const worker = createWorker({
  store,
  clock,
  observer: () => undefined,
  handlers: {
    "invoice.paid": (event) => {
      const { id } = event.data.data.object;
      if (id === "in_1" && ledgerIsDown) throw new Error("the ledger is down");
      return (tx) => void tx.prepare("insert into paid (invoice) values (?)").run(id);
    },
  },
});
export const scheduled = () => worker.drain({ deadlineMs: 50_000 });

async function drain() {
  const report = JSON.stringify(await scheduled());
  const paid = db.prepare("select invoice from paid order by rowid").pluck().all();
  console.log(`scheduled: ${report}; paid: ${paid.join(", ")}`);
}

const invoices = [
  { id: "in_1", customer: "ada" },
  { id: "in_2", customer: "ada" },
  { id: "in_3", customer: "bob" },
];
for (const data of invoices) {
  const { headers, body } = await signedRequest("stripe", { type: "invoice.paid", data, clock });
  const reply = await receive({
    version: "2.0",
    rawPath: "/webhooks/stripe",
    rawQueryString: "",
    headers,
    requestContext: { http: { method: "POST" }, domainName: "api.example.com" },
    body: Buffer.from(body).toString("base64"),
    isBase64Encoded: true,
  });
  const verdict = reply.headers?.["posthorn-verdict"];
  console.log(`received ${data.id} of ${data.customer}: ${reply.statusCode} ${verdict}`);
}
await drain();
ledgerIsDown = false;
await clock.advance(60_000);
await drain();
await drain();
