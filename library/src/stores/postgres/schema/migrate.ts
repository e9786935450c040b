import type { OptionNames } from "../../../known-options.js";
import type { StoreErrorCode } from "../../../store-errors.js";
import { PosthornError } from "../../../posthorn-error.js";
import { checkStoreOptions } from "../../../store-options.js";
import { clientKind, poolOf, singleConnection } from "../client/client.js";
import type { Pool, Session, Statement } from "../client/database.js";
import type { PgClient, PostgresPool } from "../client/drivers.js";
import { storeError } from "../client/failure.js";
import {
  DEFAULT_DEDUP_TABLE,
  DEFAULT_SCHEMA,
  literal,
  optionInvalid,
  quotedName,
} from "../client/identifiers.js";
import { MIGRATIONS } from "./migrations.js";

/** What a migration did. */
export interface MigrationReport {
  /** The names of those that were run now; none when the database was up to date. */
  readonly applied: readonly string[];
  /** The version that the database has now. */
  readonly version: number;
}

/** Where and what to migrate. */
export interface MigrateOptions {
  /** Where the tables are. @default "posthorn" */
  readonly schema?: string;
  /** Other migrations than Posthorn's own, which are left alone then: for what is built on top of it. */
  readonly set?: MigrationSet;
}

/** Migrations with numbers of their own, recorded in the table `<name>_migration`. */
export interface MigrationSet {
  /** Lower-case letters, digits and _. */
  readonly name: string;
  readonly migrations: readonly Migration[];
}

/** One step of a schema. */
export interface Migration {
  /** 1, 2, 3 … */
  readonly version: number;
  readonly name: string;
  /** In it, `posthorn.` stands for the schema. */
  readonly sql: string;
}

/** For errors of missing tables: both ways to create them. */
export const MIGRATE_CURE: string =
  'Create Posthorn\'s tables with `await migrate(pool)` of "posthorn/postgres", under a role that may create tables, or with the ' +
  "files of node_modules/posthorn/src/stores/postgres/schema/migrations. If they are in another schema, name it in `schema` of both `migrate` and the store.";

const OPTIONS: OptionNames<MigrateOptions> = { schema: true, set: true };

/**
 * Creates and changes Posthorn's tables. Run it before every start: what is there is left alone, everything new is
 * done in one transaction, and of several processes that start at once one does it and the others wait.
 *
 * @example
 * await migrate(pool);
 */
export async function migrate(
  client: PostgresPool<unknown> | PgClient,
  options: MigrateOptions = {},
): Promise<MigrationReport> {
  checkStoreOptions("migrate", options, OPTIONS);
  const { schema = DEFAULT_SCHEMA, set } = options;
  const quoted = quotedName("schema", schema);
  const record = set === undefined ? "migration" : `${checkedSet(set)}_migration`;
  const table = `${quoted}.${record}`;
  const migrations: readonly Migration[] = set?.migrations ?? MIGRATIONS;
  return inOwnTransaction(await migrationPool(client), async (session) => {
    // Looked at under the lock: two processes that looked before would both create.
    const before = await versionOf(session, table);
    if (before > migrations.length) throw newer(before, migrations.length, set);
    const missing = migrations.filter(({ version }) => version > before);
    if (set !== undefined && missing.length > 0) await createSchema(session, quoted);
    for (const migration of missing) {
      await session.query({ text: inSchema(migration.sql, quoted), script: true });
      await recordVersion(session, { table, key: `${record}_key` }, migration);
    }
    return { applied: missing.map(({ name }) => name), version: migrations.length };
  });
}

const SET_NAME = /^[a-z][a-z0-9_]{0,29}$/;

/** Its name; throws where its numbers leave a gap, in which a later migration would never be run. */
function checkedSet({ name, migrations }: MigrationSet): string {
  if (!SET_NAME.test(name)) {
    throw optionInvalid(
      `set.name is ${JSON.stringify(name)}; expected a letter, then up to 29 of a-z, digits and _.`,
    );
  }
  const wrong = migrations.findIndex(({ version }, n) => version !== n + 1);
  if (wrong === -1) return name;
  throw optionInvalid(
    `set.migrations has version ${migrations[wrong]?.version} at place ${wrong + 1}; expected 1, 2, 3 … in order.`,
  );
}

/** Creates the table of `postgresDedup` alone, under the name it was given. */
export async function migrateDedup(pool: Pool<unknown>, schema: string, table: string): Promise<void> {
  const sql = MIGRATIONS.find(({ name }) => name === "0002_create_dedup")?.sql ?? "";
  await inOwnTransaction(pool, async (session) => {
    await createSchema(session, schema);
    await session.query({ text: inSchema(renamed(sql, table), schema), script: true });
  });
}

// Created only where it is missing: an administrator may have created it for a role that may create none.
async function createSchema(session: Session, schema: string): Promise<void> {
  await session.query({
    text: `
      do $$ begin
        if to_regnamespace('${schema}') is null then create schema ${schema}; end if;
      end $$`,
    script: true,
  });
}

function inSchema(sql: string, quotedSchema: string): string {
  return sql.replaceAll(new RegExp(String.raw`\b${DEFAULT_SCHEMA}\b`, "g"), quotedSchema);
}

/** Renames the table, its key and its index, which are all named after it. */
function renamed(sql: string, quotedTable: string): string {
  const name = quotedTable.slice(1, -1);
  return sql.replaceAll(new RegExp(String.raw`\b${DEFAULT_DEDUP_TABLE}(\w*)`, "g"), `"${name}$1"`);
}

const AMPLE_MS = 60_000;

// One lock for the whole database: schemas and extensions are created once in it. Without the second setting,
// "already exists, skipping" is printed to the host's console.
const LOCK: Statement = {
  text: `
    select pg_advisory_xact_lock(hashtextextended('posthorn.migrate', 0))::text as locked,
      set_config('client_min_messages', 'warning', true) as client_min_messages`,
};

async function inOwnTransaction<T>(pool: Pool<unknown>, work: (session: Session) => Promise<T>): Promise<T> {
  const { signal } = new AbortController();
  let end;
  try {
    end = await pool.transaction(LOCK, work, { acquireMs: AMPLE_MS, signal });
  } catch (error) {
    throw storeError(error, MIGRATE_CURE);
  }
  if (end.kind === "committed") return end.value;
  throw storeError(end.error, MIGRATE_CURE);
}

async function versionOf(session: Session, table: string): Promise<number> {
  const { rows } = await session.query({ text: `select to_regclass('${table}')::text as found` });
  if (typeof rows[0]?.[0] !== "string") return 0;
  const found = await session.query({ text: `select max(version)::text as version from ${table}` });
  return Number(found.rows[0]?.[0] ?? 0);
}

async function recordVersion(
  session: Session,
  { table, key }: { readonly table: string; readonly key: string },
  { version, name }: Pick<Migration, "version" | "name">,
): Promise<void> {
  await session.query({
    text: `
      create table if not exists ${table} (
        version integer not null,
        name text not null,
        applied_at timestamptz not null,
        constraint ${key} primary key (version)
      );
      insert into ${table} (version, name, applied_at) values (${version}, ${literal(name)}, clock_timestamp());`,
    script: true,
  });
}

function newer(found: number, known: number, set: MigrationSet | undefined): PosthornError<StoreErrorCode> {
  const tables = set === undefined ? "Posthorn's tables" : `the tables of the set "${set.name}"`;
  return new PosthornError(
    "store_not_migrated",
    `The database has version ${found} of ${tables}, and this Posthorn knows versions up to ${known}: ` +
      "a newer one has migrated it. Update the package; nothing was changed.",
    { detail: { found, known } },
  );
}

async function migrationPool(client: unknown): Promise<Pool<unknown>> {
  const known = clientKind(client);
  if (known.kind === "pg_pool" || known.kind === "postgres_sql" || known.kind === "orm")
    return poolOf(known, false);
  if (known.kind === "pg_client") return singleConnection(known.client);
  throw optionInvalid("migrate was handed a transaction; expected a pool or a client that is in none.");
}
