import { systemClock } from "../../../clock.js";
import type { OptionNames } from "../../../known-options.js";
import type { StoreErrorCode } from "../../../store-errors.js";
import { PosthornError } from "../../../posthorn-error.js";
import { checkStoreOptions } from "../../../store-options.js";
import type { SqliteClient, SqliteDatabase } from "../client/client.js";
import { MIGRATIONS } from "./migrations.js";
import { DEFAULT_WAIT_MS } from "../client/options.js";
import { writeOnce } from "../client/connection.js";

/** What a migration did. */
export interface MigrationReport {
  /** The names of those that were run now; none when the database was up to date. */
  readonly applied: readonly string[];
  /** The version that the database has now. */
  readonly version: number;
}

/** One step of a set, with its number from 1 on. */
export interface Migration {
  readonly version: number;
  /** `0001_what_it_does` */
  readonly name: string;
  readonly sql: string;
}

/** Migrations of somebody else's tables, beside Posthorn's own. */
export interface MigrationSet {
  /** Under which its versions are counted. */
  readonly name: string;
  /** In the order of their versions, without a gap. */
  readonly migrations: readonly Migration[];
}

/** How and what to migrate. */
export interface MigrateOptions {
  /** How long it may wait for the write lock. @default 5,000 */
  readonly waitMs?: number;
  /** Runs this set instead of Posthorn's own, in the same way. */
  readonly set?: MigrationSet;
}

const OPTIONS: OptionNames<MigrateOptions> = { waitMs: true, set: true };

/**
 * Creates and changes Posthorn's tables. Run it at every start: what is there is left alone, everything new is
 * done in one transaction, and of several processes that start at once one does it and the others wait.
 *
 * @example
 * await migrate(db);
 */
export async function migrate(db: SqliteDatabase, options: MigrateOptions = {}): Promise<MigrationReport> {
  checkStoreOptions("migrate", options, OPTIONS);
  const { waitMs = DEFAULT_WAIT_MS, set } = options;
  return writeOnce(db, { name: "migrate", waitMs }, (client) => {
    const versions = set === undefined ? new OwnVersions(client) : new SetVersions(client, set.name);
    return applyMissing(client, versions, set?.migrations ?? MIGRATIONS);
  });
}

/** Which migrations a database has. */
interface Versions {
  readonly of: string;
  /** 0 where it has none. Makes the table in which they are kept. */
  read(): number;
  record(migration: Migration): void;
}

class OwnVersions implements Versions {
  readonly of = "Posthorn's tables";
  readonly #client: SqliteClient;

  constructor(client: SqliteClient) {
    this.#client = client;
  }

  read(): number {
    this.#client.exec(
      "create table if not exists posthorn_migration (version integer primary key, name text not null, applied_at integer not null) strict",
    );
    return highest(this.#client.get("select max(version) as version from posthorn_migration"));
  }

  record({ version, name }: Migration): void {
    this.#client.run(
      "insert into posthorn_migration (version, name, applied_at) values (?, ?, ?)",
      version,
      name,
      systemClock.now(),
    );
  }
}

class SetVersions implements Versions {
  readonly of: string;
  readonly #client: SqliteClient;
  readonly #set: string;

  constructor(client: SqliteClient, set: string) {
    this.of = `the tables of the set "${set}"`;
    this.#client = client;
    this.#set = set;
  }

  read(): number {
    this.#client.exec(
      `create table if not exists posthorn_set_migration (
         set_name text not null, version integer not null, name text not null, applied_at integer not null,
         primary key (set_name, version)
       ) strict, without rowid`,
    );
    return highest(
      this.#client.get(
        "select max(version) as version from posthorn_set_migration where set_name = ?",
        this.#set,
      ),
    );
  }

  record({ version, name }: Migration): void {
    this.#client.run(
      "insert into posthorn_set_migration (set_name, version, name, applied_at) values (?, ?, ?, ?)",
      this.#set,
      version,
      name,
      systemClock.now(),
    );
  }
}

function highest(row: unknown): number {
  return (row as { version: number | null } | undefined)?.version ?? 0;
}

// Under the write lock from its first statement on: two processes that looked before they locked would both create.
function applyMissing(
  client: SqliteClient,
  versions: Versions,
  migrations: readonly Migration[],
): MigrationReport {
  const before = versions.read();
  const version = migrations.length;
  if (before > version) throw newer(versions.of, before, version);
  const missing = migrations.filter((migration) => migration.version > before);
  for (const migration of missing) {
    client.exec(withoutKnownColumns(client, migration.sql));
    versions.record(migration);
  }
  return { applied: missing.map(({ name }) => name), version };
}

// SQLite has no `if not exists` for a column, and somebody's own tool may have run the files before.
function withoutKnownColumns(client: SqliteClient, sql: string): string {
  return sql.replaceAll(
    /^alter table (\w+) add column (\w+)[^;]*;/gm,
    (text: string, table: string, column: string) => {
      const known = client.get("select 1 from pragma_table_info(?) where name = ?", table, column);
      return known === undefined ? text : "";
    },
  );
}

function newer(of: string, found: number, known: number): PosthornError<StoreErrorCode> {
  return new PosthornError(
    "store_not_migrated",
    `The database has version ${found} of ${of}, and this Posthorn knows versions up to ${known}: a newer one has run. Update the package; nothing was changed.`,
    { detail: { found, known } },
  );
}
