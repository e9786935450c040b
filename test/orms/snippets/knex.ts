// knex.ts
import knex from "knex";
import { createReceiver } from "posthorn";
import { fromKnex } from "posthorn/orm";
import { migrate, postgresStore } from "posthorn/postgres";
import { stripe } from "posthorn/providers";

export const db = knex({ client: "pg", connection: process.env.DATABASE_URL ?? "" });
const client = fromKnex(db);
await migrate(client);

export const receiver = createReceiver({
  store: postgresStore({ client }),
  sources: { stripe: stripe({ secrets: process.env.STRIPE_WEBHOOK_SECRET }) },
  handlers: {
    "invoice.paid": async (event, { tx }) => {
      await tx("paid_invoice").insert({ id: event.id, customer: "knex" });
    },
  },
});
