import postgres from "postgres";
import { dedup } from "posthorn";
import { postgresDedup, postgresStore } from "posthorn/postgres";

/** @import { Sql, TransactionSql } from "postgres" */
/** @import { Host, HostOptions, Work } from "./work.mjs" */

const POOL = 10;
const TTL_S = 3600;

/**
 * A host application on Postgres, with the driver `postgres`.
 *
 * @param {HostOptions} options
 * @returns {Host}
 */
export function postgresJsHost({ database }) {
  const sql = postgres(database, {
    max: POOL,
    connection: { application_name: "posthorn-crash" },
    onnotice: () => undefined,
    // The driver does not listen to this query's failure: a connection that is lost during it ends the process.
    fetch_types: false,
  });
  const adapter = postgresDedup({ client: sql });

  return {
    store: postgresStore({ client: sql }),
    handle: async (work, { fails, result, tx }) => {
      await write(/** @type {TransactionSql} */ (tx), work);
      if (fails) throw new Error("as asked");
      return result;
    },
    dedup: (work) =>
      sql.begin(async (tx) => {
        const { duplicate } = await dedup("t", work.id, {
          ttl: TTL_S,
          adapter: postgresDedup({ tx }),
        });
        if (!duplicate) await write(tx, work);
        return { duplicate };
      }),
    pooled: (id) => dedup("t", id, { ttl: TTL_S, adapter }),
  };
}

/** @param {Sql | TransactionSql} on @param {Work} work */
async function write(on, { tenant, source, id, body, scope, slot }) {
  await on`
    insert into effect (tenant, source, event_id, body, done_by)
    values (${tenant}, ${source}, ${id}, ${Buffer.from(body)}, ${String(process.pid)})`;
  await on`
    insert into counter as known (scope, slot, n) values (${scope}, ${slot}, 1)
    on conflict (scope, slot) do update set n = known.n + 1`;
}
