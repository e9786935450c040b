// prisma.ts
import { PrismaPg } from "@prisma/adapter-pg";
import { createReceiver } from "posthorn";
import { fromPrisma } from "posthorn/orm";
import { migrate, postgresStore } from "posthorn/postgres";
import { stripe } from "posthorn/providers";
import { PrismaClient } from "./generated/prisma/client.js";

const adapter = new PrismaPg({ connectionString: process.env.DATABASE_URL ?? "" });
export const prisma = new PrismaClient({ adapter });
const client = fromPrisma(prisma);
await migrate(client);

export const receiver = createReceiver({
  store: postgresStore({ client }),
  sources: { stripe: stripe({ secrets: process.env.STRIPE_WEBHOOK_SECRET }) },
  handlers: {
    "invoice.paid": async (event, { tx }) => {
      await tx.paidInvoice.create({ data: { id: event.id, customer: "prisma" } });
    },
  },
});
