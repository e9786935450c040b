// The receiver of all routes: one client of Prisma, whose own transaction the handlers get.
import { PrismaPg } from "@prisma/adapter-pg";
import { createReceiver } from "posthorn";
import { fromPrisma } from "posthorn/orm";
import { postgresStore } from "posthorn/postgres";
import { stripe } from "posthorn/providers";
import { PrismaClient } from "./generated/prisma/client";

// One connection: a serverless function answers one request at a time.
const adapter = new PrismaPg({ connectionString: process.env.DATABASE_URL ?? "", max: 1 });
const prisma = new PrismaClient({ adapter });

export const receiver = createReceiver({
  store: postgresStore({ client: fromPrisma(prisma) }),
  sources: { stripe: stripe({ secrets: process.env.STRIPE_WEBHOOK_SECRET }) },
  handlers: {
    "stripe:invoice.paid": async (event, { tx }) => {
      const { id, customer: customerId, amount_paid: paidCents } = event.data.data.object;
      // Where the customer is not there yet, the foreign key refuses the invoice. Prisma throws, and rolls back what was
      // written before, the event's row included: Stripe's retry finds a new event.
      await tx.invoice.create({ data: { id, customerId, paidCents } });
    },
  },
});
