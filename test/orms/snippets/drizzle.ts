// drizzle.ts
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { pgTable, text } from "drizzle-orm/pg-core";
import { Pool } from "pg";
import { createReceiver, createSender } from "posthorn";
import { fromDrizzle } from "posthorn/orm";
import { migrate, postgresStore } from "posthorn/postgres";
import { stripe } from "posthorn/providers";

const invoice = pgTable("paid_invoice", { id: text().primaryKey(), customer: text() });

export const pool = new Pool({ connectionString: process.env.DATABASE_URL });
pool.on("error", console.error);
pool.on("connect", (connection) => connection.on("error", console.error));
const client = fromDrizzle(drizzle({ client: pool }), sql);
await migrate(client);
const store = postgresStore({ client });

export const sender = createSender({ store });
export const receiver = createReceiver({
  store,
  publisher: sender,
  sources: { stripe: stripe({ secrets: process.env.STRIPE_WEBHOOK_SECRET }) },
  handlers: {
    "invoice.paid": async (event, { tx, publish }) => {
      await tx.insert(invoice).values({ id: event.id, customer: "drizzle" });
      await publish({ type: "order.paid", key: event.id, data: {} });
    },
  },
});
