import { join } from "node:path";
import Database from "better-sqlite3";
import type { Pool } from "pg";
import type { SuiteContext } from "../../suite.js";
import { furnish, newDataDir } from "./gateway.js";
import type { Gateway, GatewayHome } from "./gateway.js";

/** A gateway's home, with a source and an endpoint in it. */
export interface Furnished {
  readonly home: GatewayHome;
  /** Forgets every event and its names; before each turn, while the gateway runs. */
  readonly empty: () => Promise<void>;
}

/** Starts a gateway in a home of its own. */
export type OpenGateway = () => Promise<Furnished & { readonly gateway: Gateway }>;

const POSTGRES_TABLES = [
  "event",
  "ingest_name",
  "ingest_repeat",
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

const SQLITE_TABLES = [
  "event",
  "ingest_name",
  "outbox_key",
  "later",
  "stage_dead",
  "lane",
  "delivery",
  "loose_delivery",
  "place",
  "attempt",
  "dead",
  "cancelled",
];

export async function postgresHome(
  context: SuiteContext,
  pool: Pool,
  { schema, endpoint }: { readonly schema: string; readonly endpoint: string },
): Promise<Furnished> {
  const database = pool.options.connectionString ?? "";
  const home = { database, schema, dataDir: newDataDir(context), endpoint };
  await furnish(context, home);
  const tables = POSTGRES_TABLES.map((table) => `${schema}.${table}`).join(", ");
  return {
    home,
    async empty() {
      // A node knows its lanes by heart as long as the endpoints are the same.
      await pool.query(`truncate ${tables}; update ${schema}.outbox_config set mark = gen_random_uuid()`);
    },
  };
}

export async function sqliteHome(context: SuiteContext, endpoint: string): Promise<Furnished> {
  const home = { database: "", schema: "", dataDir: newDataDir(context), endpoint };
  await furnish(context, home);
  return { home, empty: () => Promise.resolve(emptyFile(join(home.dataDir, "posthorn.db"))) };
}

const LOCK_WAIT_MS = 10_000;

function emptyFile(path: string): void {
  const db = new Database(path, { timeout: LOCK_WAIT_MS });
  try {
    db.exec(SQLITE_TABLES.map((table) => `delete from posthorn_${table};`).join("\n"));
    // Each turn begins with an empty log.
    db.pragma("wal_checkpoint(truncate)");
  } finally {
    db.close();
  }
}
