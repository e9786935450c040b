import Database from "better-sqlite3";
import { dedup } from "posthorn";
import { sqliteDedup, sqliteStore } from "posthorn/sqlite";

/** @import { ReceivedEvent } from "posthorn" */
/** @import { Host, HostOptions, Work } from "./work.mjs" */

/**
 * A host application on SQLite.
 *
 * @param {HostOptions} options
 * @returns {Host}
 */
export function sqliteHost({ database, plant }) {
  const db = new Database(database);
  const outside = plant === "effect_outside" ? new Database(database) : db;
  const adapter = sqliteDedup({ db });
  const insert = "insert into effect (tenant, source, event_id, body, done_by) values (?, ?, ?, ?, ?)";
  const count =
    "insert into counter (scope, slot, n) values (?, ?, 1) on conflict (scope, slot) do update set n = n + 1";

  /** @param {Database.Database} on @param {Work} work */
  const write = (on, { tenant, source, id, body, scope, slot }) => {
    on.prepare(insert).run(tenant, source, id, body, String(process.pid));
    on.prepare(count).run(scope, slot);
  };

  return {
    store: sqliteStore({ db, durability: "strict" }),
    handle: (work, { fails, result }) => {
      if (plant === "effect_outside") write(outside, work);
      return () => {
        if (plant !== "effect_outside") write(db, work);
        if (fails) throw new Error("as asked");
        return result;
      };
    },
    dedup: async (work) => {
      const ttl = 3600;
      if (plant === "mark_first") {
        const { duplicate } = await dedup("t", work.id, { ttl, adapter });
        await Promise.resolve();
        if (!duplicate) db.transaction(() => write(db, work))();
        return { duplicate };
      }
      return db
        .transaction(() => {
          const { duplicate } = adapter.recordInTransaction(work.id, ttl);
          if (!duplicate) write(db, work);
          return { duplicate };
        })
        .immediate();
    },
    pooled: (id) => dedup("t", id, { ttl: 3600, adapter }),
  };
}
