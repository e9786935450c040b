import { Pool } from "pg";
import type { PoolClient } from "pg";
import { migrate } from "posthorn/postgres";
import { startPostgres } from "../../../test/services/postgres-server.js";
import type { SuiteContext } from "../../suite.js";

/** One server of the suite's own, with fsync and synchronous_commit on, and the pools that the cases share. */
export interface Bench {
  /** What every case gets that is compared by its pool. */
  readonly pool: Pool;
  /** A pool of another size; closed with the suite. */
  readonly poolOf: (connections: number) => Pool;
}

// The default of 1 GB is reached within a few turns, and a checkpoint would fall on whoever's turn it is then.
const SETTINGS = ["max_wal_size=8GB"];
const POOL_SIZE = 20;

export async function openBench(context: SuiteContext): Promise<Bench> {
  const server = await startPostgres({ durable: true, settings: SETTINGS });
  context.onClose(() => server.stop());
  const poolOf = (connections: number): Pool => {
    const pool = new Pool({ connectionString: server.urlOf("postgres"), max: connections });
    // A connection that breaks while it is idle would end the process; the next statement on it tells enough.
    pool.on("error", () => undefined);
    context.onClose(() => pool.end());
    return pool;
  };
  const pool = poolOf(POOL_SIZE);
  await refuseUnsafe(pool);
  await migrate(pool);
  return { pool, poolOf };
}

/** Figures of a server that may lose commits are worth nothing, and look splendid. */
async function refuseUnsafe(pool: Pool): Promise<void> {
  for (const setting of ["fsync", "synchronous_commit", "full_page_writes"]) {
    const { rows } = await pool.query<{ value: string }>("select current_setting($1) as value", [setting]);
    if (rows[0]?.value !== "on") throw new Error(`${setting} is ${rows[0]?.value}; expected on.`);
  }
}

/** Runs work in a transaction, as people write it. */
export async function inTransaction(pool: Pool, work: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await work(client);
    const { command } = await client.query("commit");
    if (command !== "COMMIT") throw new Error(`The commit was answered with ${command}.`);
  } finally {
    client.release();
  }
}
