import type { Pool, PoolClient } from "pg";
import { inTransaction } from "./durable-postgres.js";

/** The tables of the two patterns, as the articles print them. */
export async function createCommonTables(pool: Pool): Promise<void> {
  await pool.query(`
    create schema if not exists common;
    create table if not exists common.webhook_inbox (
      event_id text primary key,
      received_at timestamptz not null default now(),
      processed_at timestamptz,
      result jsonb
    );
    create table if not exists common.processed_webhook_events (
      event_id text not null,
      source text not null,
      processed_at timestamptz not null default now(),
      outcome text not null,
      primary key (source, event_id)
    );
    create index if not exists processed_at on common.processed_webhook_events (processed_at);`);
}

type Work = (client: PoolClient) => Promise<unknown>;

/** The common pattern: insert, lock, work, mark, in one transaction. */
export function commonTransaction(pool: Pool, id: string, work?: Work): Promise<void> {
  return inTransaction(pool, async (client) => {
    await client.query("insert into common.webhook_inbox (event_id) values ($1) on conflict do nothing", [
      id,
    ]);
    const { rows } = await client.query<{ processed_at: Date | null }>(
      "select processed_at from common.webhook_inbox where event_id = $1 for update",
      [id],
    );
    if (rows[0]?.processed_at !== null) throw new Error(`${id} is new, and its row says otherwise.`);
    await work?.(client);
    await client.query("update common.webhook_inbox set processed_at = now() where event_id = $1", [id]);
  });
}

/** The single-insert pattern: one statement per event, which commits by itself. */
export async function singleInsert(pool: Pool, id: string): Promise<void> {
  const { rowCount } = await pool.query(
    `insert into common.processed_webhook_events (event_id, source, outcome) values ($1, 'shop', 'success')
     on conflict (source, event_id) do nothing`,
    [id],
  );
  if (rowCount !== 1) throw new Error(`${id} is new, and was called a duplicate.`);
}
