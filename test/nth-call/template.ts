import Database from "better-sqlite3";
import { migrate } from "posthorn/sqlite";

/** The bytes of a database with our tables and the host's own. Made once: most of a run would be spent on making tables. */
export async function templateWith(tables: string): Promise<Buffer> {
  const db = new Database(":memory:");
  await migrate(db);
  db.exec(tables);
  const bytes = db.serialize();
  db.close();
  return bytes;
}
