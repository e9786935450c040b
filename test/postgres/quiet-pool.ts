import { Pool } from "pg";
import type { PoolConfig } from "pg";

/**
 * A pool of a test. Its database is dropped by force when the test has ended: a connection that is still saying goodbye
 * then hears of it, and without listeners that would be an error of nobody.
 */
export function quietPool(config: PoolConfig): Pool {
  const pool = new Pool(config);
  pool.on("error", () => undefined);
  pool.on("connect", (client) => void client.on("error", () => undefined));
  return pool;
}
