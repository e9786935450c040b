// pglite.ts
import { PGlite } from "@electric-sql/pglite";
import { createReceiver } from "posthorn";
import { fromPglite } from "posthorn/orm";
import { migrate, postgresStore } from "posthorn/postgres";
import { stripe } from "posthorn/providers";

export const db = new PGlite();
await db.exec("create table paid_invoice (id text primary key, customer text)");
const client = fromPglite(db);
await migrate(client);

export const receiver = createReceiver({
  store: postgresStore({ client }),
  sources: { stripe: stripe({ secrets: process.env.STRIPE_WEBHOOK_SECRET }) },
  handlers: {
    "invoice.paid": async (event, { tx }) => {
      await tx.query("insert into paid_invoice (id, customer) values ($1, $2)", [event.id, "pglite"]);
    },
  },
});
