import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";

/** A database file of a test's own, and the handles that were opened on it. */
export interface DatabaseFile {
  readonly path: string;
  /** Opens one more handle, as another process would. */
  open(): Database.Database;
  /** Closes every handle and removes the file. */
  remove(): void;
}

/** Makes an empty database file in a folder of its own. */
export function createDatabaseFile(): DatabaseFile {
  const folder = mkdtempSync(join(tmpdir(), "posthorn-sqlite-"));
  const path = join(folder, "test.db");
  const handles: Database.Database[] = [];
  return {
    path,
    open() {
      const db = new Database(path);
      handles.push(db);
      return db;
    },
    remove() {
      for (const db of handles) if (db.open) db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
