import { COLUMNS, INSERT, NOTE, TABLE } from "./database-part.js";
import type { DatabasePart, Typed } from "./database-part.js";

/** The file `database` on better-sqlite3. */
export function sqlitePart(typed: Typed): DatabasePart {
  return {
    twoSteps: true,
    shared: [],
    write: `tx.prepare("${INSERT} (?, ?, ?)").run(event.id, event.type, JSON.stringify(event.data));`,
    file: `import SQLite from "better-sqlite3";
import { migrate, sqliteStore } from "posthorn/sqlite";

${typed("export type Database = SQLite.Database;\nexport type Transaction = SQLite.Database;\n\n")}/** Opens the file of DATABASE_FILE; tests open one in memory. */
export async function openDatabase(file = process.env["DATABASE_FILE"] ?? "app.db")${typed(": Promise<Database>")} {
  return new SQLite(file);
}

/** Makes Posthorn's tables and the handler's. */
export async function migrateDatabase(db${typed(": Database")})${typed(": Promise<void>")} {
  await migrate(db);
  ${NOTE}
  db.exec("create table if not exists ${TABLE} (${COLUMNS})");
}

export function storeOf(db${typed(": Database")}) {
  return sqliteStore({ db, durability: db.memory ? "as_is" : "set" });
}

/** How many rows the handler has written. */
export async function countReceived(db${typed(": Database")})${typed(": Promise<number>")} {
  return db.prepare${typed("<[], { n: number }>")}("select count(*) as n from ${TABLE}").get()${typed("?")}.n${typed(" ?? 0")};
}

export async function closeDatabase(db${typed(": Database")})${typed(": Promise<void>")} {
  db.close();
}
`,
  };
}
