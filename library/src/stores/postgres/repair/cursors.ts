import type { CursorStore } from "../../../repair/cursor-store.js";
import type { Pool } from "../client/database.js";
import { againWhenLost, storeError } from "../client/failure.js";
import { MIGRATE_CURE } from "../schema/migrate.js";
import type { Tables } from "../schema/tables.js";

interface CursorParts {
  readonly pool: Pick<Pool<unknown>, "query">;
  readonly tables: Tables;
  readonly acquireMs: number;
}

/** Where repairs remember how far they have read. */
export function createCursors({ pool, tables, acquireMs }: CursorParts): CursorStore {
  const query = async (text: string, params: readonly string[]): Promise<readonly (readonly unknown[])[]> => {
    try {
      // Both statements may be said twice: the second answer is that of the first.
      const { rows } = await againWhenLost(() => pool.query({ text, params: [...params] }, acquireMs));
      return rows;
    } catch (error) {
      throw storeError(error, MIGRATE_CURE);
    }
  };
  return {
    async readCursor(name) {
      const [row] = await query(`select cursor from ${tables.repairCursor} where name = $1`, [name]);
      return row?.[0] as string | undefined;
    },
    async writeCursor(name, cursor) {
      await query(
        `insert into ${tables.repairCursor} (name, cursor) values ($1, $2)
         on conflict (name) do update set cursor = excluded.cursor, written_at = now()`,
        [name, cursor],
      );
    },
  };
}
