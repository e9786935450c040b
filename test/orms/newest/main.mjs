// Run by run.ts under the Node of this folder, with DATABASE_URL: prints one line for each thing that must hold.
import { EntitySchema, MikroORM } from "@mikro-orm/postgresql";
import { CompiledQuery, Kysely, PostgresDialect } from "kysely";
import { Pool } from "pg";
import { createReceiver, createSender } from "posthorn";
import { fromKysely, fromMikroOrm } from "posthorn/orm";
import { migrate, postgresStore } from "posthorn/postgres";
import { stripe } from "posthorn/providers";
import { signedRequest } from "posthorn/testing";

const url = process.env.DATABASE_URL;
const secret = "whsec_of_a_test";
const pool = new Pool({ connectionString: url });
await pool.query("create table public.paid_invoice (id text primary key, customer text)");

const db = new Kysely({ dialect: new PostgresDialect({ pool: new Pool({ connectionString: url }) }) });
const Invoice = new EntitySchema({
  name: "Invoice",
  tableName: "paid_invoice",
  schema: "public",
  properties: { id: { type: "text", primary: true }, customer: { type: "text" } },
});
const orm = await MikroORM.init({ clientUrl: url, entities: [Invoice] });

const subjects = [
  {
    name: "kysely 0.29",
    client: fromKysely(db, CompiledQuery),
    write: (tx, id) => tx.insertInto("public.paid_invoice").values({ id, customer: "kysely" }).execute(),
    end: (tx) => tx.executeQuery(CompiledQuery.raw("rollback")),
  },
  {
    name: "mikro-orm 7",
    client: fromMikroOrm(orm.em),
    write: async (tx, id) => {
      tx.persist(tx.create(Invoice, { id, customer: "mikro-orm" }));
      await tx.flush();
    },
    end: (tx) => tx.commit(),
  },
];

for (const { name, client, write, end } of subjects) {
  await migrate(client);
  const store = postgresStore({ client });
  const publisher = createSender({ store });
  let kept;
  const handlers = {
    sound: async (event, { tx, publish }) => {
      kept = tx;
      await write(tx, event.id);
      await publish({ type: "order.paid", data: {} });
    },
    throwing: async (event, { tx }) => {
      await write(tx, event.id);
      throw new Error("no");
    },
    ending: async (event, { tx }) => {
      await end(tx).catch(() => undefined);
      await write(tx, event.id);
    },
  };
  const sources = { stripe: stripe({ secrets: secret }) };
  const receiver = createReceiver({ store, publisher, sources, handlers, observer: () => undefined });
  const written = async (id) =>
    (await pool.query("select 1 from public.paid_invoice where id = $1", [id])).rowCount;
  for (const type of Object.keys(handlers)) {
    const id = `evt_${name.replaceAll(/\W/g, "_")}_${type}`;
    const request = await signedRequest("stripe", { type, id, secrets: secret });
    const verdicts = [];
    for (let n = 0; n < 2; n++) verdicts.push((await receiver.receive("stripe", request)).verdict);
    console.log(`${name}, ${type}: ${verdicts.join(", ")}; written ${await written(id)}`);
  }
  const late = await write(kept, "late").then(
    () => "accepted",
    () => "refused",
  );
  console.log(`${name}, a late write: ${late}; written ${await written("late")}`);
}
process.exit(0);
