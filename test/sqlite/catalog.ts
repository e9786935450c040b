import type { Database } from "better-sqlite3";

/** The schema as SQLite keeps it, in an order that does not depend on when a table was made. */
export function printSchema(from: Database): string {
  const rows = from.prepare(
    "select sql from sqlite_schema where sql is not null order by tbl_name, type desc, name",
  );
  return rows
    .pluck()
    .all()
    .map((sql) => `${String(sql)};\n`)
    .join("\n");
}
