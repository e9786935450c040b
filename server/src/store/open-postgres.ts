import { Pool } from "pg";
import { migrate, MIGRATIONS, postgresStore } from "posthorn/postgres";
import { withoutPassword } from "../config/print.js";
import type { Settings } from "../config/settings.js";
import type { OpenStore, OpenStoreOptions, SchemaAge } from "../parts.js";
import { ageOf } from "./schema-age.js";
import { SERVER_MIGRATIONS } from "./postgres/migrations.js";
import { postgresRegistry } from "./postgres/registry.js";
import { CommandFailure } from "../terminal/failure.js";

const SERVER_SET = { name: "server", migrations: SERVER_MIGRATIONS };
const CONNECT_MS = 10_000;
const DURABILITY = ["fsync", "full_page_writes", "synchronous_commit"];

type PostgresSettings = Settings & { readonly database: string };

/** Opens a pool on Postgres; throws where nobody answers there. */
export async function openPostgres(
  settings: PostgresSettings,
  options: OpenStoreOptions,
): Promise<OpenStore> {
  const { schema } = settings;
  const { seal, observer, onIdleError } = options;
  const pool = poolOf(settings, onIdleError);
  await firstAnswer(pool, settings.database);
  return {
    kind: "postgres",
    outbox: postgresStore({ client: pool, schema, seal, ...(observer && { observer }) }),
    registry: postgresRegistry(pool, schema, seal),
    migrate: async () => {
      const own = await migrate(pool, { schema });
      const servers = await migrate(pool, { schema, set: SERVER_SET });
      return [...own.applied, ...servers.applied];
    },
    schemaAge: () => schemaAge(pool, schema),
    lostPromises: () => lostPromises(pool),
    endLeases: () => Promise.resolve(0),
    now: () => clockOf(pool),
    close: () => pool.end(),
  };
}

function poolOf(
  { database, databaseConnections }: PostgresSettings,
  onIdleError?: (error: Error) => void,
): Pool {
  const pool = new Pool({
    connectionString: database,
    max: databaseConnections,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: "posthorn",
  });
  // Without a listener, a connection that breaks while it is idle ends the process.
  pool.on("error", (error) => onIdleError?.(error));
  // The pool takes its own listener off a connection that it closes; a server that ends at the same moment still says so.
  pool.on("connect", (client) => void client.on("error", () => undefined));
  return pool;
}

async function firstAnswer(pool: Pool, url: string): Promise<void> {
  try {
    await pool.query("select 1");
  } catch (cause) {
    await pool.end();
    throw new CommandFailure(
      "failed",
      `Postgres does not answer at ${withoutPassword(url)}: ${wordsOf(cause)}.`,
      {
        code: "database_unreachable",
        cure: "Check the address, the name, the password, and that this machine may connect (pg_hba.conf, firewall).",
        cause,
      },
    );
  }
}

function wordsOf(cause: unknown): string {
  // Names with several addresses fail with one error for each of them, and an empty message of their own.
  const { message, code } = cause as { readonly message?: string; readonly code?: string };
  return message !== undefined && message !== "" ? message : (code ?? "unknown");
}

async function schemaAge(pool: Pool, schema: string): Promise<SchemaAge> {
  const own = await versionIn(pool, `"${schema}".migration`);
  const servers = await versionIn(pool, `"${schema}".${SERVER_SET.name}_migration`);
  return ageOf([own, MIGRATIONS.length], [servers, SERVER_MIGRATIONS.length]);
}

/** 0 where the table is not there. */
async function versionIn(pool: Pool, table: string): Promise<number> {
  const { rows } = await pool.query<{ known: string | null }>("select to_regclass($1)::text as known", [
    table,
  ]);
  if (typeof rows[0]?.known !== "string") return 0;
  const found = await pool.query<{ version: string | null }>(
    `select max(version)::text as version from ${table}`,
  );
  return Number(found.rows[0]?.version ?? 0);
}

async function lostPromises(pool: Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string; setting: string }>(
    "select name, setting from pg_settings where name = any($1)",
    [DURABILITY],
  );
  return rows
    .filter(({ setting }) => setting === "off")
    .map(({ name, setting }) => `${name} is ${setting}; expected on`);
}

async function clockOf(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ ms: string }>(
    "select (extract(epoch from clock_timestamp()) * 1000)::bigint::text as ms",
  );
  return Number(rows[0]?.ms);
}
