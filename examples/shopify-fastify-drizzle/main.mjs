// Shopify → Postgres with Drizzle and Fastify: the handler gets Drizzle's own transaction, so that an order and the event
// that brought it commit together. Needs DATABASE_URL; works in a schema of its own and drops it at the end.
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { integer, pgTable, text } from "drizzle-orm/pg-core";
import fastify from "fastify";
import { Pool } from "pg";
import { createReceiver } from "posthorn";
import { webhooks } from "posthorn/fastify";
import { fromDrizzle } from "posthorn/orm";
import { migrate, postgresStore } from "posthorn/postgres";
import { shopify } from "posthorn/providers";
import { signedRequest, TEST_SECRETS } from "posthorn/testing";

const schema = `example_${process.pid}`;
const db = drizzle(
  new Pool({ connectionString: process.env["DATABASE_URL"], options: `-c search_path=${schema}` }),
);
const orders = pgTable("orders", { name: text().primaryKey(), times: integer().notNull() });
const client = fromDrizzle(db, sql);
await migrate(client, { schema });
await db.execute(sql`create table orders (name text primary key, times integer not null)`);

let shelfIsEmpty = true;
const receiver = createReceiver({
  store: postgresStore({ client, schema }),
  sources: { shopify: shopify({ secrets: TEST_SECRETS.shopify.verifying }) },
  handlers: {
    "shopify:orders/create": async (event, { tx }) => {
      await tx.insert(orders).values({ name: event.data.name, times: 1 });
      // Thrown after the insert: Drizzle rolls both back, the order and the event's row.
      if (shelfIsEmpty) throw new Error("the shelf is empty");
    },
  },
});

const app = fastify({ forceCloseConnections: true });
await app.register(webhooks(receiver), { prefix: "/webhooks" });

const { headers, body } = await signedRequest("shopify", { type: "orders/create", data: { name: "#1001" } });
const deliver = async () => {
  const reply = await app.inject({
    method: "POST",
    url: "/webhooks/shopify",
    headers,
    payload: Buffer.from(body),
  });
  const verdict = String(reply.headers["posthorn-verdict"]);
  return `${reply.statusCode} ${verdict}, orders: ${JSON.stringify(await db.select().from(orders))}`;
};
console.log("the handler fails:", await deliver());
shelfIsEmpty = false;
console.log("Shopify retries:  ", await deliver());
console.log("and once more:    ", await deliver());

await app.close();
await receiver.stop();
await db.execute(sql.raw(`drop schema ${schema} cascade`));
await db.$client.end();
