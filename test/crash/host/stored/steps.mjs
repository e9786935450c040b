// The other side of a long handler's steps: each effect is a row, committed by itself, without a unique key.
import { randomUUID } from "node:crypto";

/** @import { HostOptions } from "../work.mjs" */

/** @typedef {{ key: string, place: number, step: string, idem: string }} Act */

const ACT = "insert into stream_step (key, place, step, idem, effect) values";
const FIND = "select effect from stream_step where idem =";

/** @param {HostOptions} options */
export async function openOtherSide({ store, database }) {
  if (store === "sqlite") {
    const { default: Database } = await import("better-sqlite3");
    const db = new Database(database);
    const insert = db.prepare(`${ACT} (?, ?, ?, ?, ?)`);
    const find = db.prepare(`${FIND} ? limit 1`).pluck();
    return {
      /** @param {Act} act */
      act({ key, place, step, idem }) {
        const effect = randomUUID();
        insert.run(key, place, step, idem, effect);
        return Promise.resolve(effect);
      },
      /** @param {string} idem @returns {Promise<string | undefined>} */
      find: (idem) => Promise.resolve(/** @type {any} */ (find.get(idem))),
    };
  }
  const { Pool } = await import("pg");
  const pool = new Pool({ connectionString: database, max: 4, application_name: "posthorn-crash-steps" });
  pool.on("error", () => {});
  return {
    /** @param {Act} act */
    async act({ key, place, step, idem }) {
      const effect = randomUUID();
      await pool.query(`${ACT} ($1, $2, $3, $4, $5)`, [key, place, step, idem, effect]);
      return effect;
    },
    /** @param {string} idem @returns {Promise<string | undefined>} */
    async find(idem) {
      const { rows } = await pool.query(`${FIND} $1 limit 1`, [idem]);
      return rows[0]?.effect;
    },
  };
}
