// Stripe → Postgres with Express: an invoice is marked as paid once, however often Stripe delivers the event.
// Needs DATABASE_URL; makes its tables in a schema of its own and drops it at the end.
import { once } from "node:events";
import express from "express";
import { Pool } from "pg";
import { createReceiver } from "posthorn";
import { webhooks } from "posthorn/express";
import { migrate, postgresStore } from "posthorn/postgres";
import { stripe } from "posthorn/providers";
import { signedRequest, TEST_SECRETS } from "posthorn/testing";

const schema = `example_${process.pid}`;
const pool = new Pool({ connectionString: process.env["DATABASE_URL"], options: `-c search_path=${schema}` });
await migrate(pool, { schema });
await pool.query(
  "create table invoice (id text primary key, paid_cents integer, times integer not null default 0)",
);
await pool.query("insert into invoice (id) values ('in_7')");

// 1. The receiver. What the handler writes through `tx` commits with the event's row, or not at all.
const receiver = createReceiver({
  store: postgresStore({ client: pool, schema }),
  sources: { stripe: stripe({ secrets: TEST_SECRETS.stripe.verifying }) }, // yours: process.env.STRIPE_WEBHOOK_SECRET
  handlers: {
    "stripe:invoice.paid": async (event, { tx }) => {
      const { id, amount_paid: cents } = event.data.data.object;
      await tx.query("update invoice set paid_cents = $2, times = times + 1 where id = $1", [id, cents]);
    },
  },
});

// 2. Mounted before express.json(): a signature covers the bytes as they came.
const app = express();
app.use("/webhooks", webhooks(receiver));
app.use(express.json());
const server = app.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = Object(server.address());

// 3. Stripe's part: the same event twice.
const { headers, body } = await signedRequest("stripe", {
  id: "evt_1",
  type: "invoice.paid",
  data: { id: "in_7", amount_paid: 14900 },
});
const deliver = async () => {
  const reply = await fetch(`http://127.0.0.1:${port}/webhooks/stripe`, { method: "POST", headers, body });
  return `${reply.status} ${reply.headers.get("posthorn-verdict")}`;
};
console.log("delivered:      ", await deliver());
console.log("delivered again:", await deliver());
const { rows } = await pool.query("select id, paid_cents, times from invoice");
console.log("invoice:        ", JSON.stringify(rows[0]));

await receiver.stop();
server.close();
server.closeAllConnections();
await pool.query(`drop schema ${schema} cascade`);
await pool.end();
