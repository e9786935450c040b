import type { PoolClient } from "pg";
import { createReceiver } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import { createFakeClock } from "posthorn/testing";
import { afterAll } from "vitest";
import { promiseRepair, sources } from "../e2e/repair-promises.js";
import type { RepairWorld } from "../e2e/repair-promises.js";
import { freshDatabase } from "../services.js";
import { quietPool } from "./quiet-pool.js";

const HOUR_MS = 3_600_000;

const pool = quietPool({ connectionString: await freshDatabase(), max: 4 });
afterAll(() => pool.end());

async function insert({ id }: { readonly id: string }, { tx }: { readonly tx: PoolClient }): Promise<void> {
  await tx.query("insert into effect (id) values ($1)", [id]);
}

async function onPostgres(): Promise<RepairWorld> {
  // The store's clock is the database's: the hour ends in its present, so that nothing is too old for the inbox.
  const clock = createFakeClock({ at: Math.floor(Date.now() / 1000) * 1000 - 2 * HOUR_MS });
  await pool.query(
    "create table if not exists effect (nr bigint generated always as identity, id text not null)",
  );
  await pool.query("truncate effect, posthorn.inbox, posthorn.inbox_attempt, posthorn.repair_cursor");
  const store = postgresStore({ client: pool });
  const handlers = { "issues.opened": insert, "invoice.paid": insert };
  const receiver = createReceiver({ store, sources: sources(clock), handlers, clock });
  const applied = async (): Promise<string[]> =>
    (await pool.query<{ id: string }>("select id from effect order by nr")).rows.map(({ id }) => id);
  return { clock, store, receiver, applied };
}

promiseRepair("Postgres", onPostgres);
