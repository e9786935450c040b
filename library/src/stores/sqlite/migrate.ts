import { systemClock } from "../../clock.js";
import type { InboxErrorCode } from "../../inbox/inbox-errors.js";
import { PosthornError } from "../../posthorn-error.js";
import type { SqliteClient, SqliteDatabase } from "./client.js";
import { connectionOf } from "./connection.js";
import { storeError } from "./failure.js";
import { MIGRATIONS } from "./migrations.js";
import { checkWaitMs, DEFAULT_WAIT_MS } from "./options.js";

/** What a migration did. */
export interface MigrationReport {
  /** The names of those that were run now; none when the database was up to date. */
  readonly applied: readonly string[];
  /** The version that the database has now. */
  readonly version: number;
}

/**
 * Creates and changes Posthorn's tables. Run it at every start: what is there is left alone, everything new is
 * done in one transaction, and of several processes that start at once one does it and the others wait.
 *
 * @example
 * await migrate(db);
 */
export async function migrate(
  db: SqliteDatabase,
  { waitMs = DEFAULT_WAIT_MS }: { readonly waitMs?: number } = {},
): Promise<MigrationReport> {
  checkWaitMs("migrate", waitMs);
  const { client, statements } = connectionOf(db);
  try {
    return await statements.join({
      run: () => applyMissing(client),
      undoable: true,
      waitMs,
      expired: () => {
        throw new PosthornError<InboxErrorCode>(
          "store_unavailable",
          `migrate: another connection held the write lock, or the host a transaction, for ${waitMs} ms. Retry, or raise waitMs.`,
        );
      },
    });
  } catch (error) {
    throw storeError(error);
  }
}

// Under the write lock from its first statement on: two processes that looked before they locked would both create.
function applyMissing(client: SqliteClient): MigrationReport {
  client.exec(
    "create table if not exists posthorn_migration (version integer primary key, name text not null, applied_at integer not null) strict",
  );
  const found = client.get("select max(version) as version from posthorn_migration") as
    | { version: number | null }
    | undefined;
  const before = found?.version ?? 0;
  const version = MIGRATIONS.length;
  if (before > version) throw newer(before, version);
  const missing = MIGRATIONS.filter((migration) => migration.version > before);
  for (const migration of missing) {
    client.exec(migration.sql);
    client.run(
      "insert into posthorn_migration (version, name, applied_at) values (?, ?, ?)",
      migration.version,
      migration.name,
      systemClock.now(),
    );
  }
  return { applied: missing.map(({ name }) => name), version };
}

function newer(found: number, known: number): PosthornError<InboxErrorCode> {
  return new PosthornError(
    "not_migrated",
    `The database has version ${found} of Posthorn's tables, and this Posthorn knows versions up to ${known}: a newer one has run. Update the package; nothing was changed.`,
    { detail: { found, known } },
  );
}
