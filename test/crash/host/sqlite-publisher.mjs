import Database from "better-sqlite3";
import { sqliteStore } from "posthorn/sqlite";
import { ROLLED_BACK } from "./outbox-work.mjs";

/** @import { HostOptions } from "./work.mjs" */
/** @import { PublishingHost } from "./outbox-work.mjs" */

/**
 * A host that publishes from SQLite.
 *
 * @param {HostOptions} options
 * @returns {PublishingHost}
 */
export function sqlitePublisher({ database, plant }) {
  const db = new Database(database);
  // The bug of writing to another connection.
  const business = plant === "business_outside" ? new Database(database) : db;
  const insert = business.prepare("insert into business (ref) values (?)");
  const store = sqliteStore({ db, durability: "strict" });
  return {
    store,
    outbox: store,
    // oxlint-disable-next-line typescript/require-await -- what the transaction throws is a rejection here
    beside: async (publish, { ref, rollBack }) => {
      if (plant === "business_outside") insert.run(ref);
      const both = db.transaction(() => {
        const { duplicate } = publish(db);
        if (!duplicate && plant !== "business_outside") insert.run(ref);
        if (rollBack) throw new Error(ROLLED_BACK);
        return { duplicate };
      });
      return both.immediate();
    },
    limitPages: (most) => void db.pragma(`max_page_count = ${most}`),
    relay:
      ({ ref, publication, publisher }) =>
      (/** @type {Database.Database} */ tx) => {
        tx.prepare("insert into business (ref) values (?)").run(ref);
        publisher.publish(publication, { tx });
      },
  };
}
