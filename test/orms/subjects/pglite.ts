import { PGlite } from "@electric-sql/pglite";
import { fromPglite } from "posthorn/orm";
import { migrate } from "posthorn/postgres";
import { afterAll } from "vitest";
import type { Driver, TestPool } from "../../postgres/drivers.js";
import { afterwards, beginOn } from "./subject.js";

/** A database of its own, in this process: an address of a server is only its name here. */
interface Database {
  readonly db: PGlite;
  readonly ready: Promise<unknown>;
}

const databases = new Map<string, Database>();
afterAll(() => Promise.all([...databases.values()].map(({ db, ready }) => ready.then(() => db.close()))));

function databaseOf(url: string): Database {
  let database = databases.get(url);
  if (database === undefined) {
    const db = new PGlite();
    database = { db, ready: migrate(fromPglite(db)) };
    databases.set(url, database);
  }
  return database;
}

export const pglite: Driver = {
  name: "pglite",
  oneConnection: true,
  open(url) {
    const { db, ready } = databaseOf(url);
    const client = afterwards(fromPglite(db), ready);
    return {
      client: client as unknown as TestPool["client"],
      rows: async (text) => {
        await ready;
        return (await db.query<Record<string, string>>(text)).rows;
      },
      begin: () => beginOn(client),
      inside: (tx, text) => (tx as PGlite).query(text),
      dedupIn: (tx) => ({ client, tx }),
      // Every pool of a file is this one.
      end: () => Promise.resolve(),
    };
  },
};
