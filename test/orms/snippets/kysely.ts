// kysely.ts
import { CompiledQuery, Kysely, PostgresDialect } from "kysely";
import { Pool } from "pg";
import { createReceiver } from "posthorn";
import { fromKysely } from "posthorn/orm";
import { migrate, postgresStore } from "posthorn/postgres";
import { stripe } from "posthorn/providers";

interface Tables {
  readonly paid_invoice: { readonly id: string; readonly customer: string };
}

export const pool = new Pool({ connectionString: process.env.DATABASE_URL });
pool.on("error", console.error);
pool.on("connect", (connection) => connection.on("error", console.error));
const client = fromKysely(new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }), CompiledQuery);
await migrate(client);

export const receiver = createReceiver({
  store: postgresStore({ client }),
  sources: { stripe: stripe({ secrets: process.env.STRIPE_WEBHOOK_SECRET }) },
  handlers: {
    "invoice.paid": async (event, { tx }) => {
      await tx.insertInto("paid_invoice").values({ id: event.id, customer: "kysely" }).execute();
    },
  },
});
