// type-orm.ts
import { createReceiver } from "posthorn";
import { fromTypeOrm } from "posthorn/orm";
import { migrate, postgresStore } from "posthorn/postgres";
import { stripe } from "posthorn/providers";
import { DataSource, EntitySchema } from "typeorm";

const Invoice = new EntitySchema<{ id: string; customer: string }>({
  name: "paid_invoice",
  columns: { id: { type: "text", primary: true }, customer: { type: "text" } },
});

const url = process.env.DATABASE_URL ?? "";
export const source = await new DataSource({ type: "postgres", url, entities: [Invoice] }).initialize();
const client = fromTypeOrm(source);
await migrate(client);

export const receiver = createReceiver({
  store: postgresStore({ client }),
  sources: { stripe: stripe({ secrets: process.env.STRIPE_WEBHOOK_SECRET }) },
  handlers: {
    "invoice.paid": async (event, { tx }) => {
      await tx.getRepository(Invoice).insert({ id: event.id, customer: "typeorm" });
    },
  },
});
