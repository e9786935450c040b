import { Pool } from "pg";
import { migrate, postgresOutbox } from "posthorn/postgres";
import { withoutPassword } from "./config/print.js";
import type { Settings } from "./config/settings.js";
import type { OpenStore, OpenStoreOptions } from "./open-store.js";
import { SERVER_MIGRATIONS } from "./stores/postgres/migrations.js";
import { postgresRegistry } from "./stores/postgres/registry.js";
import { CommandFailure } from "./terminal/failure.js";

const SERVER_SET = { name: "server", migrations: SERVER_MIGRATIONS };
const CONNECT_MS = 10_000;
const DURABILITY = ["fsync", "full_page_writes", "synchronous_commit"];
const READ_ONLY = "25006";

type PostgresSettings = Settings & { readonly database: string };

/** Opens a pool on Postgres; throws where nobody answers there. */
export async function openPostgres(
  settings: PostgresSettings,
  options: OpenStoreOptions,
): Promise<OpenStore> {
  const { schema } = settings;
  const { seal, observer, onIdleError } = options;
  const pool = poolOf(settings, { onIdleError });
  await firstAnswer(pool, settings.database);
  return {
    kind: "postgres",
    outbox: postgresOutbox({ client: pool, schema, seal, ...(observer && { observer }) }),
    registry: postgresRegistry(pool, schema, seal),
    migrate: async () => {
      const own = await migrate(pool, { schema });
      const servers = await migrate(pool, { schema, set: SERVER_SET });
      return [...own.applied, ...servers.applied];
    },
    isCurrent: () => isCurrent(settings),
    lostPromises: () => lostPromises(pool),
    now: () => clockOf(pool),
    close: () => pool.end(),
  };
}

function poolOf(
  { database, databaseConnections }: PostgresSettings,
  { onIdleError, readOnly = false }: Pick<OpenStoreOptions, "onIdleError"> & { readonly readOnly?: boolean },
): Pool {
  const pool = new Pool({
    connectionString: database,
    max: databaseConnections,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: "posthorn",
    ...(readOnly && { options: "-c default_transaction_read_only=on" }),
  });
  // Without a listener, a connection that breaks while it is idle ends the process.
  pool.on("error", (error) => onIdleError?.(error));
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

/** Runs the migrations where nothing can be written: those that have something to do are refused. */
async function isCurrent(settings: PostgresSettings): Promise<boolean> {
  const { schema } = settings;
  const pool = poolOf({ ...settings, databaseConnections: 1 }, { onIdleError: undefined, readOnly: true });
  try {
    await migrate(pool, { schema });
    await migrate(pool, { schema, set: SERVER_SET });
    return true;
  } catch (error) {
    if (isReadOnlyRefusal(error)) return false;
    throw error;
  } finally {
    await pool.end();
  }
}

function isReadOnlyRefusal(error: unknown): boolean {
  const { code, cause } = Object(error) as { readonly code?: unknown; readonly cause?: unknown };
  return code === READ_ONLY || (cause !== undefined && isReadOnlyRefusal(cause));
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
