/** @import { Store } from "posthorn/operator" */
/** @import { HostOptions } from "./work.mjs" */

/**
 * The store of a process that has no tables of its own. Only what is needed is loaded: a host is started a hundred times
 * in a run.
 *
 * @param {HostOptions} options
 * @param {number} connections
 * @returns {Promise<Store<any>>}
 */
export async function openStore({ store, database }, connections) {
  if (store === "sqlite") {
    const { default: Database } = await import("better-sqlite3");
    const { sqliteStore } = await import("posthorn/sqlite");
    return sqliteStore({ db: new Database(database), durability: "strict" });
  }
  const { Pool } = await import("pg");
  const { postgresStore } = await import("posthorn/postgres");
  const pool = new Pool({
    connectionString: database,
    max: connections,
    application_name: "posthorn-crash-worker",
  });
  pool.on("error", () => {});
  return postgresStore({ client: pool });
}
