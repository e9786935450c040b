import { expect, it } from "vitest";
import { EVENTS, reconciled, replayed } from "../doc-snippets/replaying-page.js";
import type { ReplayingDatabase } from "../doc-snippets/replaying-page.js";
import { postgresEnvironment } from "../doc-snippets/run-page.js";
import { freshDatabase } from "../services.js";

// The programs of docs/replaying.md as they stand there, with the page's store on Postgres.

const database = (url: string): ReplayingDatabase => ({
  env: postgresEnvironment(url),
  prepare: `
    import pg from "pg";
    const db = new pg.Client();
    await db.connect();
    const run = (sql) => db.query(sql);`,
  handler: `async ({ id }, { tx }) => {
    handle(id);
    await tx.query("insert into payment values ($1) on conflict do nothing", [id]);
  }`,
});
const [ofReplay, ofComparison] = [database(await freshDatabase()), database(await freshDatabase())];

it("the documented program replays all of a span, oldest first in the order of the key, and says what it answered", async () => {
  expect(await replayed(ofReplay, "run")).toBe(
    `${EVENTS} of ${EVENTS} are to be handled again\n${2 * EVENTS} true evt_${EVENTS}\n`,
  );
});

it("the documented comparison says what the table lacks, and what it has though it was never applied", async () => {
  expect(await reconciled(ofComparison)).toBe(
    "missing stripe evt_140\nmissing stripe evt_007\nextra stripe evt_001\n",
  );
});
