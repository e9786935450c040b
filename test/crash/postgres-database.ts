import { Pool } from "pg";
import { freshDatabase } from "../services.js";
import type { Database, EndRows } from "./database.js";
import { EFFECT_TABLES } from "./database.js";
import { writeEnd } from "./end-state.js";

export interface PostgresDatabase extends Database {
  readonly pool: Pool;
  /** The same database by another way: through a proxy, say. */
  at(port: number): Database["options"];
}

/** A database of this test file's own on the lane's server, with the tables of Posthorn and the host. */
export async function createPostgresDatabase(): Promise<PostgresDatabase> {
  return openPostgresDatabase(await freshDatabase());
}

/** A database that has Posthorn's tables, wherever it is. */
export async function openPostgresDatabase(url: string): Promise<PostgresDatabase> {
  const pool = new Pool({ connectionString: url, max: 4, application_name: "posthorn-crash-reader" });
  pool.on("error", () => undefined);
  await pool.query(EFFECT_TABLES("bytea"));
  return {
    name: "postgres",
    options: { store: "postgres", database: url },
    pool,
    at(port) {
      const changed = new URL(url);
      changed.host = `127.0.0.1:${port}`;
      return { store: "postgres", database: changed.href };
    },
    async effectsOf({ tenant, source, id }) {
      const { rows } = await pool.query<{ n: number }>(
        "select count(*)::int as n from effect where (tenant, source, event_id) = ($1, $2, $3)",
        [tenant, source, id],
      );
      return rows[0]?.n ?? 0;
    },
    async readEnd(scope, reader) {
      const like = [`${scope}-%`];
      const effects = await pool.query(
        "select tenant, source, event_id as id, body, done_by as by from effect where event_id like $1",
        like,
      );
      const stored = await pool.query(
        `select tenant, source, event_id as id, body, body_hash as "hashColumn", outcome
         from posthorn.inbox where event_id like $1`,
        like,
      );
      const counted = await pool.query<{ n: number }>(
        "select coalesce(sum(n), 0)::int as n from counter where scope = $1",
        [scope],
      );
      writeEnd(
        { effects: effects.rows, stored: stored.rows, counted: counted.rows[0]?.n } as EndRows,
        reader,
      );
    },
    close: () => pool.end(),
  };
}
