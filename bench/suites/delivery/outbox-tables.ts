import type { Pool, PoolClient } from "pg";
import { migrate, postgresOutbox } from "posthorn/postgres";
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
  return openOutbox(postgresOutbox({ client: pool, schema }), server, {
    // The store knows the lanes by heart as long as the endpoints are the same.
    empty: () => run(`truncate ${tables}; update ${schema}.outbox_config set version = version + 1`),
    settleDown: () => run(`analyze ${tables}`),
  });
}
