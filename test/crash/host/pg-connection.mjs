/** @import { Pool, PoolClient } from "pg" */

export function ignore() {}

/**
 * A connection with a listener from its first moment on: of a session that is ended at once, pg tells before a
 * promise can be heard.
 *
 * @param {Pool} pool
 * @returns {Promise<PoolClient>}
 */
export function connected(pool) {
  return new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      client?.on("error", ignore);
      if (client) resolve(client);
      else reject(error ?? new Error("the pool gave nothing"));
    });
  });
}
