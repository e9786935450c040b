import Database from "better-sqlite3";
import type { Database as Db } from "better-sqlite3";
import { endLeases, migrate, MIGRATIONS, sqliteStore } from "posthorn/sqlite";
import type { Settings } from "../config/settings.js";
import { databasePath, holdDataDir, makeDataDir } from "../data-dir.js";
import type { OpenStore, OpenStoreOptions, SchemaAge } from "../parts.js";
import { ageOf } from "./schema-age.js";
import { touchPrivateFile } from "../secrets/private-file.js";
import { SERVER_MIGRATIONS } from "./sqlite/migrations.js";
import { sqliteRegistry } from "./sqlite/registry.js";
import { CommandFailure } from "../terminal/failure.js";

const SERVER_SET = { name: "server", migrations: SERVER_MIGRATIONS };

/** Opens the SQLite file of the data directory, and holds the directory. */
export async function openSqlite({ dataDir }: Settings, options: OpenStoreOptions): Promise<OpenStore> {
  const { beside = false } = options;
  if (!beside) makeDataDir(dataDir);
  const release = beside ? () => undefined : holdDataDir(dataDir);
  let db: Db | undefined;
  try {
    db = openFile(databasePath(dataDir), beside);
    return await storeOf(db, options, release);
  } catch (error) {
    db?.close();
    release();
    throw error;
  }
}

// An async function, so that what the library's stores refuse at once is a rejection as well.
// oxlint-disable-next-line typescript/require-await -- see above
async function storeOf(
  db: Db,
  { seal, observer }: OpenStoreOptions,
  release: () => void,
): Promise<OpenStore> {
  // Each is made where it is first used: before `migrate` there is no table that they could prepare a statement for.
  const outbox = sqliteStore({ db, seal, ...(observer && { observer }) });
  return {
    kind: "sqlite",
    outbox,
    registry: sqliteRegistry(db, seal),
    migrate: async () => {
      const own = await migrate(db);
      const servers = await migrate(db, { set: SERVER_SET });
      return [...own.applied, ...servers.applied];
    },
    schemaAge: () => Promise.resolve(schemaAge(db)),
    lostPromises: () => Promise.resolve(lostPromises(db)),
    endLeases: () => endLeases(db),
    now: () => Promise.resolve(undefined),
    close: () => {
      db.close();
      release();
      return Promise.resolve();
    },
  };
}

function openFile(path: string, mustExist: boolean): Db {
  try {
    // The files beside it, its log among them, get the same rights: they hold every payload.
    if (!mustExist) touchPrivateFile(path);
    const db = new Database(path, { fileMustExist: mustExist });
    if (!mustExist) giveSpaceBack(db);
    return db;
  } catch (cause) {
    throw new CommandFailure(
      "failed",
      `The database ${path} cannot be opened: ${(cause as Error).message}.`,
      {
        code: "database_unusable",
        cure: "Name the directory that holds it with --data-dir; `posthorn serve` makes a new one.",
        cause,
      },
    );
  }
}

/** Only in a new file, before its first table: SQLite ignores this later, and the pages of what retention removes would never go back to the disk. */
function giveSpaceBack(db: Db): void {
  if (Number(db.pragma("page_count", { simple: true })) === 0) db.pragma("auto_vacuum = incremental");
}

function schemaAge(db: Db): SchemaAge {
  const own = versionIn(db, "posthorn_migration", "");
  const servers = versionIn(db, "posthorn_set_migration", `where set_name = '${SERVER_SET.name}'`);
  return ageOf([own, MIGRATIONS.length], [servers, SERVER_MIGRATIONS.length]);
}

function versionIn(db: Db, table: string, where: string): number {
  const known = db.prepare("select 1 from sqlite_schema where type = 'table' and name = ?").get(table);
  if (known === undefined) return 0;
  const row = db.prepare(`select max(version) as version from ${table} ${where}`).get() as {
    version: number | null;
  };
  return row.version ?? 0;
}

// After the library has set them: what stands in another way then could not be had.
function lostPromises(db: Db): string[] {
  const journal = String(db.pragma("journal_mode", { simple: true }));
  const level = Number(db.pragma("synchronous", { simple: true }));
  return [
    ...(journal === "wal" ? [] : [`journal_mode is ${journal}; expected wal`]),
    ...(level >= 2 ? [] : [`synchronous is ${level}; expected 2 (full)`]),
  ];
}
