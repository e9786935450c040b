import { Pool } from "pg";
import { postgresStore } from "posthorn/postgres";
import { ROLLED_BACK } from "./outbox-work.mjs";
import { connected, ignore } from "./pg-connection.mjs";

/** @import { HostOptions } from "./work.mjs" */
/** @import { PublishingHost } from "./outbox-work.mjs" */

const BUSINESS = "insert into business (ref) values ($1)";

/**
 * A host that publishes from Postgres.
 *
 * @param {HostOptions} options
 * @returns {PublishingHost}
 */
export function postgresPublisher({ database, plant }) {
  const pool = new Pool({ connectionString: database, max: 6, application_name: "posthorn-crash" });
  pool.on("error", ignore);
  const store = postgresStore({ client: pool });
  return {
    store,
    outbox: store,
    beside: async (publish, { ref, rollBack }) => {
      // The bug of writing to another connection.
      if (plant === "business_outside") await pool.query(BUSINESS, [ref]);
      const client = await connected(pool);
      let whole = false;
      try {
        await client.query("begin");
        const { duplicate } = await publish(client);
        if (!duplicate && plant !== "business_outside") await client.query(BUSINESS, [ref]);
        if (rollBack) throw new Error(ROLLED_BACK);
        const { command } = await client.query("commit");
        if (command !== "COMMIT") throw new Error(`the commit was answered with ${command}`);
        whole = true;
        return { duplicate };
      } finally {
        client.off("error", ignore);
        client.release(!whole);
      }
    },
    relay: async ({ ref, publication, publisher }, tx) => {
      await tx.query(BUSINESS, [ref]);
      await publisher.publish(publication, { tx });
    },
  };
}
