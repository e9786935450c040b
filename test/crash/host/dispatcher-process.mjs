// A worker that delivers, to be killed, stopped and ended. Started by host.ts with its options as JSON.
import { startDispatcher } from "./dispatching.mjs";
import { serve } from "./serve.mjs";

/** @import { Outbox } from "posthorn/operator" */
/** @import { HostOptions } from "./work.mjs" */

const options = /** @type {HostOptions} */ (JSON.parse(process.argv[2] ?? "{}"));

/** @returns {Promise<Outbox<any>>} */
async function openOutbox() {
  if (options.store === "sqlite") {
    const { default: Database } = await import("better-sqlite3");
    const { sqliteStore } = await import("posthorn/sqlite");
    return sqliteStore({ db: new Database(options.database), durability: "strict" });
  }
  const { Pool } = await import("pg");
  const { postgresStore } = await import("posthorn/postgres");
  const pool = new Pool({
    connectionString: options.database,
    max: 4,
    application_name: "posthorn-crash-worker",
  });
  pool.on("error", () => {});
  return postgresStore({ client: pool });
}

await startDispatcher(await openOutbox(), options);
serve({});
