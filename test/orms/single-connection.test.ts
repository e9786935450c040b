import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { Client } from "pg";
import { fromDrizzle } from "posthorn/orm";
import { postgresStore } from "posthorn/postgres";
import { expect, it, onTestFinished } from "vitest";
import { freshDatabase } from "../services.js";
import { newArrival } from "./arrival.js";

const url = await freshDatabase();

it("Drizzle on a single connection is refused with the reason, and the host's own statements go on", async () => {
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  const db = drizzle({ client });
  const own: unknown = Reflect.get(client, "query");
  const store = postgresStore({ client: fromDrizzle(db, sql) });
  const handled: object[] = [];
  const work = (tx: object): { readonly outcome: "success" } => {
    handled.push(tx);
    return { outcome: "success" };
  };
  const limits = { acquireMs: 5000, signal: new AbortController().signal };
  await expect(store.accept(newArrival(), work, limits)).rejects.toMatchObject({
    code: "store_client_unsupported",
    message: expect.stringContaining("drizzle({ client: new Pool() })") as string,
  });
  expect(handled).toEqual([]);
  // Neither judged any more nor left in a transaction.
  expect(Reflect.get(client, "query")).toBe(own);
  const { rows } = await db.execute(sql.raw("select pg_current_xact_id_if_assigned() is null as outside"));
  expect(rows).toEqual([{ outside: true }]);
  expect(
    await db.transaction((tx) => tx.execute(sql.raw("select 1 as one")).then((found) => found.rows)),
  ).toEqual([{ one: 1 }]);
});
