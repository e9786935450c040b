// Stripe → Postgres with Prisma and Next.js: the handler of a route writes with Prisma's own `tx`, so that an invoice and the
// event that brought it commit together. Needs `npm run build` before, and DATABASE_URL of a database of its own.
import { once } from "node:events";
import { createServer } from "node:http";
import next from "next";
import { Pool } from "pg";
import { migrate } from "posthorn/postgres";
import { signedRequest, TEST_SECRETS } from "posthorn/testing";

process.env["STRIPE_WEBHOOK_SECRET"] = TEST_SECRETS.stripe.verifying;

// 1. Before the first request, once per deployment: Posthorn's tables, and yours (by `prisma migrate deploy`).
const pool = new Pool({ connectionString: process.env["DATABASE_URL"] });
await migrate(pool);
await pool.query(`
  create table public.customer (id text primary key);
  create table public.invoice (
    id text primary key,
    paid_cents integer not null,
    customer_id text not null references public.customer
  )`);

// 2. The application as `next start` serves it. Its route is app/webhooks/[source]/route.ts, its receiver receiver.ts.
const app = next({ dev: false, dir: import.meta.dirname });
await app.prepare();
const server = createServer(app.getRequestHandler()).listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = Object(server.address());

// 3. Stripe's part.
const { headers, body } = await signedRequest("stripe", {
  id: "evt_1",
  type: "invoice.paid",
  data: { id: "in_7", customer: "cus_1", amount_paid: 14900 },
});
const deliver = async () => {
  const reply = await fetch(`http://127.0.0.1:${port}/webhooks/stripe`, { method: "POST", headers, body });
  const { rows } = await pool.query("select id, paid_cents, customer_id from public.invoice");
  return `${reply.status} ${reply.headers.get("posthorn-verdict")}, invoices: ${JSON.stringify(rows)}`;
};
console.log("before its customer:", await deliver());
await pool.query("insert into public.customer (id) values ('cus_1')");
console.log("Stripe retries:     ", await deliver());
console.log("and once more:      ", await deliver());

await pool.query("drop table public.invoice, public.customer; drop schema posthorn cascade");
await pool.end();
server.close();
server.closeAllConnections();
await app.close();
// Next.js does not say when a process ends: Prisma's connection would keep it for ten seconds.
process.exit();
