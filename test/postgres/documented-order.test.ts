import { expect, it } from "vitest";
import { bySequence, deletesFrom, orderCases, runOrder } from "../doc-snippets/order-page.js";
import type { OrderDatabase } from "../doc-snippets/order-page.js";
import { postgresEnvironment } from "../doc-snippets/run-page.js";
import { freshDatabase } from "../services.js";

// The programs of docs/inbound-order.md as they stand there, with the page's own store.

const database: OrderDatabase = {
  env: postgresEnvironment(await freshDatabase()),
  files: {
    "database.js": `
      import pg from "pg";
      const db = new pg.Client();
      await db.connect();
      export async function one(sql) {
        const { rows, rowCount } = await db.query(sql);
        return rows.length > 0 ? Object.values(rows[0])[0] : rowCount;
      }`,
  },
};

const [wrong = "", old = ""] = deletesFrom("posthorn.newest");
const age = "update posthorn.newest set seen_at = seen_at - interval '3 years'";

const cases = [...orderCases({ wrong, old, age }), bySequence];

it.each(cases.map((each) => [each.promise, each] as const))("%s", async (_promise, each) => {
  expect(await runOrder(each, database)).toEqual(each.prints);
});
