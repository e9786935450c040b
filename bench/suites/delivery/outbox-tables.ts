import type { Pool, PoolClient } from "pg";
import { migrate, postgresStore } from "posthorn/postgres";
import { openOutbox } from "./bench-outbox.js";
import type { BenchOutbox } from "./bench-outbox.js";
import type { ReceivingServer } from "./receiving-server.js";

// All but the endpoints and what they are matched by.
const TABLES = [
  "event",
  "outbox_key",
  "stage",
  "later",
  "stage_dead",
  "lane",
  "lane_state",
  "delivery",
  "attempt",
  "loose_delivery",
  "loose_attempt",
  "dead",
  "cancelled",
];

/** An outbox in a schema of its own, so that no case meets what another has left. */
export async function openPostgresOutbox(
  pool: Pool,
  schema: string,
  server: ReceivingServer,
): Promise<BenchOutbox<PoolClient>> {
  await migrate(pool, { schema });
  const tables = TABLES.map((table) => `${schema}.${table}`).join(", ");
  const run = async (sql: string): Promise<void> => void (await pool.query(sql));
  return openOutbox(postgresStore({ client: pool, schema }), server, {
    empty: () => run(`truncate ${tables}`),
    settleDown: () => run(`analyze ${tables}`),
  });
}
