import { migrate } from "posthorn/sqlite";
import { createDatabaseFile } from "../sqlite/database-file.js";
import type { Database, EndRows } from "./database.js";
import { EFFECT_TABLES } from "./database.js";
import { writeEnd } from "./end-state.js";

/** A file of its own, with the tables of Posthorn and the host; the host commits with `synchronous=full`. */
export async function createSqliteDatabase(): Promise<Database> {
  const file = createDatabaseFile();
  const db = file.open();
  await migrate(db);
  db.exec(EFFECT_TABLES("blob"));
  const rows = (sql: string, scope: string): unknown => db.prepare(sql).all(`${scope}-%`);
  return {
    name: "sqlite",
    options: { store: "sqlite", database: file.path },
    effectsOf({ tenant, source, id }) {
      const found = db
        .prepare("select count(*) from effect where tenant = ? and source = ? and event_id = ?")
        .pluck()
        .get(tenant, source, id);
      return Promise.resolve(Number(found));
    },
    readEnd(scope, reader) {
      const effects = rows(
        "select tenant, source, event_id as id, body, done_by as by from effect where event_id like ?",
        scope,
      );
      const stored = rows(
        `select tenant, source, event_id as id, body, body_hash as hashColumn, outcome
         from posthorn_inbox where event_id like ?`,
        scope,
      );
      const counted = db
        .prepare("select coalesce(sum(n), 0) from counter where scope = ?")
        .pluck()
        .get(scope);
      writeEnd({ effects, stored, counted } as EndRows, reader);
      return Promise.resolve();
    },
    close: () => Promise.resolve(file.remove()),
  };
}
