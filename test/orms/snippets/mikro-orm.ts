// mikro-orm.ts
import { EntitySchema, MikroORM } from "@mikro-orm/postgresql";
import { createReceiver } from "posthorn";
import { fromMikroOrm } from "posthorn/orm";
import { migrate, postgresStore } from "posthorn/postgres";
import { stripe } from "posthorn/providers";

const Invoice = new EntitySchema<{ id: string; customer: string }>({
  name: "Invoice",
  tableName: "paid_invoice",
  properties: { id: { type: "text", primary: true }, customer: { type: "text" } },
});

export const orm = await MikroORM.init({ clientUrl: process.env.DATABASE_URL ?? "", entities: [Invoice] });
const client = fromMikroOrm(orm.em);
await migrate(client);

export const receiver = createReceiver({
  store: postgresStore({ client }),
  sources: { stripe: stripe({ secrets: process.env.STRIPE_WEBHOOK_SECRET }) },
  handlers: {
    "invoice.paid": (event, { tx }) => {
      // Flushed by Posthorn, before the event counts as applied.
      tx.persist(tx.create(Invoice, { id: event.id, customer: "mikro-orm" }));
    },
  },
});
