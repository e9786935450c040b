// sequelize.ts
import { createReceiver } from "posthorn";
import { fromSequelize } from "posthorn/orm";
import { migrate, postgresStore } from "posthorn/postgres";
import { stripe } from "posthorn/providers";
import { DataTypes, Sequelize } from "sequelize";

export const sequelize = new Sequelize(process.env.DATABASE_URL ?? "", { logging: false });
const columns = { id: { type: DataTypes.TEXT, primaryKey: true }, customer: DataTypes.TEXT };
const Invoice = sequelize.define("Invoice", columns, { tableName: "paid_invoice", timestamps: false });
const client = fromSequelize(sequelize);
await migrate(client);

export const receiver = createReceiver({
  store: postgresStore({ client }),
  sources: { stripe: stripe({ secrets: process.env.STRIPE_WEBHOOK_SECRET }) },
  handlers: {
    "invoice.paid": async (event, { tx: transaction }) => {
      // Without `transaction`, the row would be written outside, and stay when the event fails.
      await Invoice.create({ id: event.id, customer: "sequelize" }, { transaction });
    },
  },
});
