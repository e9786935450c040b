import { expect, it } from "vitest";
import { deletesFrom, orderCases, runOrder } from "../doc-snippets/order-page.js";
import type { OrderDatabase } from "../doc-snippets/order-page.js";

// The programs of docs/inbound-order.md, changed as the page says for SQLite and in nothing else.

const database: OrderDatabase = {
  files: {
    "store.js": `
      import Database from "better-sqlite3";
      import { migrate, sqliteStore } from "posthorn/sqlite";
      export const db = new Database("app.db");
      await migrate(db);
      export const store = sqliteStore({ db });`,
    "database.js": `
      import { db } from "./store.js";
      export async function one(sql) {
        const statement = db.prepare(sql);
        return statement.reader ? Object.values(statement.get() ?? [0])[0] : statement.run().changes;
      }`,
  },
  edit: onSqlite,
};

/** Writes are in the inner function, their statements have `?`, a time is in milliseconds, and `newest` is not awaited. */
function onSqlite(code: string): string {
  return code
    .replace(/async \(event, \{ tx(, logger)? \}\) =>/, (_, logger?: string) =>
      logger ? "async (event, { logger }) => (tx) =>" : "async (event) => (tx) =>",
    )
    .replace(/async function (\w+)\(event, \{ newest \}\)/, "const $1 = async (event) => (tx, { newest }) =>")
    .replace("await newest(", "newest(")
    .replace("event.time", "event.time?.getTime()")
    .replace(/await tx\.query\(\s*([`"][^`"]*[`"]),\s*\[([^\]]*)\]\s*\)/, (_, sql: string, list: string) => {
      const values = list.split(", ");
      const given = [...sql.matchAll(/\$(\d)/g)].map(([, n]) => values[Number(n) - 1]);
      return `tx.prepare(${sql.replaceAll(/\$\d/g, "?")}).run(${given.join(", ")})`;
    });
}

// The statement that the page gives for one version names the table of Postgres.
const wrong = deletesFrom("posthorn.newest")[0]?.replace("posthorn.newest", "posthorn_newest") ?? "";
const [old = ""] = deletesFrom("posthorn_newest");
const age = "update posthorn_newest set seen_at = seen_at - 3 * 365 * 86400 * 1000";

const cases = orderCases({ wrong, old, age });

it.each(cases.map((each) => [each.promise, each] as const))("%s", async (_promise, each) => {
  expect(await runOrder(each, database)).toEqual(each.prints);
});
