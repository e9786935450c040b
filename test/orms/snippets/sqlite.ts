// sqlite.ts
import Database from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import { createReceiver } from "posthorn";
import { stripe } from "posthorn/providers";
import { migrate, sqliteStore } from "posthorn/sqlite";

const invoice = sqliteTable("paid_invoice", { id: text().primaryKey(), customer: text() });

interface Tables {
  readonly paid_invoice: { readonly id: string; readonly customer: string };
}
const kysely = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

export const db = new Database(":memory:");
db.exec("create table paid_invoice (id text primary key, customer text)");
await migrate(db);

export const receiver = createReceiver({
  store: sqliteStore({ db, durability: "as_is" }),
  sources: { stripe: stripe({ secrets: process.env.STRIPE_WEBHOOK_SECRET }) },
  handlers: {
    // Drizzle on the handler's own handle: `run`, `get` and `all` do not await.
    "invoice.paid": (event) => (tx) => {
      drizzle({ client: tx }).insert(invoice).values({ id: event.id, customer: "drizzle on SQLite" }).run();
    },
    // Kysely only writes the statement.
    "invoice.voided": (event) => (tx) => {
      const query = kysely.deleteFrom("paid_invoice").where("id", "=", event.id).compile();
      tx.prepare(query.sql).run(...query.parameters);
    },
  },
});
