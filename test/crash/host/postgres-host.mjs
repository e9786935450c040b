import { Pool } from "pg";
import { dedup } from "posthorn";
import { postgresDedup, postgresStore } from "posthorn/postgres";
import { connected, ignore } from "./pg-connection.mjs";

/** @import { PoolClient } from "pg" */
/** @import { Host, HostOptions, Work } from "./work.mjs" */

/** How many sessions the host has; a test counts them. */
const POOL = 10;
const TTL_S = 3600;

/**
 * A host application on Postgres.
 *
 * @param {HostOptions} options
 * @returns {Host}
 */
export function postgresHost({ database, plant }) {
  const pool = new Pool({ connectionString: database, max: POOL, application_name: "posthorn-crash" });
  // A session that is ended while it is idle is replaced by the pool; without a listener it would end the process.
  pool.on("error", ignore);
  const adapter = postgresDedup({ client: pool });

  return {
    store: postgresStore({ client: pool }),
    handle: async (work, { fails, result, tx }) => {
      const on = plant === "effect_outside" ? pool : /** @type {PoolClient} */ (tx);
      await write(on, work);
      if (fails) throw new Error("as asked");
      return result;
    },
    dedup: async (work) => {
      if (plant === "mark_first") {
        const { duplicate } = await dedup("t", work.id, { ttl: TTL_S, adapter });
        if (!duplicate) await inTransaction(pool, (client) => write(client, work));
        return { duplicate };
      }
      return inTransaction(pool, async (client) => {
        const { duplicate } = await dedup("t", work.id, {
          ttl: TTL_S,
          adapter: postgresDedup({ tx: client }),
        });
        if (!duplicate) await write(client, work);
        return { duplicate };
      });
    },
    pooled: (id) => dedup("t", id, { ttl: TTL_S, adapter }),
  };
}

/** @param {Pool | PoolClient} on @param {Work} work */
async function write(on, { tenant, source, id, body, scope, slot }) {
  await on.query("insert into effect (tenant, source, event_id, body, done_by) values ($1, $2, $3, $4, $5)", [
    tenant,
    source,
    id,
    Buffer.from(body),
    String(process.pid),
  ]);
  await on.query(
    `insert into counter as known (scope, slot, n) values ($1, $2, 1)
     on conflict (scope, slot) do update set n = known.n + 1`,
    [scope, slot],
  );
}

/**
 * A transaction as careful hosts write it: the commit's tag is looked at.
 *
 * @template T
 * @param {Pool} pool
 * @param {(client: PoolClient) => Promise<T>} work
 * @returns {Promise<T>}
 */
async function inTransaction(pool, work) {
  const client = await connected(pool);
  let whole = false;
  try {
    await client.query("begin");
    const value = await work(client);
    const { command } = await client.query("commit");
    if (command !== "COMMIT") throw new Error(`the commit was answered with ${command}`);
    whole = true;
    return value;
  } finally {
    client.off("error", ignore);
    client.release(!whole);
  }
}
