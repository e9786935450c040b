import { systemClock } from "../../../clock.js";
import { checkDedup, checkedScope } from "../../../inbox/dedup.js";
import type { DedupAdapter, DedupVerdict } from "../../../inbox/dedup.js";
import type { PurgeLimits, PurgeReport } from "../../../inbox/inbox-store.js";
import { storedId } from "../../../inbox/arrival/stored-id.js";
import type { OptionNames } from "../../../known-options.js";
import type { Observer } from "../../../observer.js";
import { PosthornError } from "../../../posthorn-error.js";
import type { StoreErrorCode } from "../../../store-errors.js";
import { checkStoreOptions } from "../../../store-options.js";
import { clientKind, poolOf, sessionOf } from "../client/client.js";
import type { Pool } from "../client/database.js";
import type { PostgresConnection, PostgresPool } from "../client/drivers.js";
import type { OrmClient } from "../client/orms/orm-client.js";
import { ormHostSession } from "../client/orms/orm-driver.js";
import { isAnyExpired, removeExpired } from "./batch.js";
import { PooledDedup } from "./coalesced.js";
import { TransactionDedup } from "./in-transaction.js";
import { MIGRATE_CURE, migrateDedup } from "../schema/migrate.js";
import { checkedMs, DEFAULT_DEDUP_TABLE, DEFAULT_SCHEMA, quotedName } from "../client/identifiers.js";
import { purgeInBatches } from "../inbox/purge.js";
import { storeError } from "../client/failure.js";

interface DedupTableOptions {
  /** @default "dedup" */
  readonly tableName?: string;
  /** @default "posthorn" */
  readonly schema?: string;
  /** Ids of one scope say nothing of those of another: give each source its own. @default one scope for all */
  readonly scope?: string;
  /** How long an id that another transaction holds is waited for, before `dedup_busy` is thrown. @default 1,000 */
  readonly waitMs?: number;
  /** False for poolers that cannot keep prepared statements. @default true */
  readonly prepare?: boolean;
}

/** Ids that are recorded on a pool. */
export interface PostgresDedupOptions extends DedupTableOptions {
  /** A pool: calls of the same moment share one statement, in a transaction of its own. */
  readonly client: PostgresPool<unknown>;
  readonly tx?: never;
  /** Creates the table when it is found missing. @default true */
  readonly autoMigrate?: boolean;
  readonly observer?: Observer;
}

/** Ids that are recorded in a transaction of the host. */
export interface PostgresTransactionDedupOptions extends DedupTableOptions {
  /** A connection inside of a transaction of yours: its rollback forgets the id, and its commit remembers it. */
  readonly tx: PostgresConnection;
  readonly client?: never;
}

/** Ids that are recorded in a transaction of the host's ORM. */
export interface PostgresOrmDedupOptions<Tx> extends DedupTableOptions {
  /** The ORM's client, by `posthorn/orm`. */
  readonly client: OrmClient<Tx>;
  /** A transaction of the ORM: its rollback forgets the id, and its commit remembers it. */
  readonly tx: Tx;
}

const OPTIONS: OptionNames<PostgresDedupOptions> = {
  tableName: true,
  schema: true,
  scope: true,
  waitMs: true,
  prepare: true,
  client: true,
  tx: true,
  autoMigrate: true,
  observer: true,
};

/** A dedup adapter on a connection. */
export interface PostgresTransactionDedup extends DedupAdapter {
  record(id: string, ttlSeconds: number): Promise<DedupVerdict>;
}

/** A dedup adapter on a pool. */
export interface PostgresDedup extends PostgresTransactionDedup {
  /** Creates the table, where it is not there. */
  migrate(): Promise<void>;
  /** Removes expired ids. `record` on a pool does it by itself; hosts that only record in transactions call this. */
  purge(limits: PurgeLimits): Promise<PurgeReport>;
}

/**
 * Remembers ids in Postgres, for `dedup`.
 *
 * @example
 * const adapter = postgresDedup({ client: pool, scope: "stripe" });
 * const { duplicate } = await dedup("invoice.paid", "evt_1", { ttl: 14 * 24 * 3600, adapter });
 *
 * // In a transaction of yours, whose rollback forgets the id:
 * const inside = postgresDedup({ tx, scope: "stripe" });
 * const inDrizzle = postgresDedup({ client: fromDrizzle(db, sql), tx, scope: "stripe" });
 */
export function postgresDedup(options: PostgresDedupOptions): PostgresDedup;
export function postgresDedup(options: PostgresTransactionDedupOptions): PostgresTransactionDedup;
export function postgresDedup<Tx>(options: PostgresOrmDedupOptions<Tx>): PostgresTransactionDedup;
export function postgresDedup(
  options: PostgresDedupOptions | PostgresTransactionDedupOptions | PostgresOrmDedupOptions<unknown>,
): PostgresTransactionDedup {
  checkStoreOptions("postgresDedup", options, OPTIONS);
  const { tableName = DEFAULT_DEDUP_TABLE, schema = DEFAULT_SCHEMA, waitMs = 1000 } = options;
  const table = quotedName("tableName", tableName);
  const quotedSchema = quotedName("schema", schema);
  checkedMs("waitMs", waitMs);
  const standard = tableName === DEFAULT_DEDUP_TABLE && schema === DEFAULT_SCHEMA;
  const custom = `Create it with \`await postgresDedup({ client: pool, schema: "${schema}", tableName: "${tableName}" }).migrate()\`.`;
  const parts: DedupParts = {
    table: `${quotedSchema}.${table}`,
    scope: checkedScope(options.scope),
    waitMs,
    prepare: options.prepare ?? true,
    cure: standard ? MIGRATE_CURE : custom,
  };
  if (options.tx !== undefined) {
    const session = options.client
      ? ormHostSession(options.client, options.tx)
      : sessionOf(clientKind(options.tx), parts.prepare);
    return { record: recordWith(new TransactionDedup({ ...parts, session })) };
  }
  return pooledDedup(options as PostgresDedupOptions, parts, (pool) =>
    migrateDedup(pool, quotedSchema, table),
  );
}

interface DedupParts {
  readonly table: string;
  readonly scope: string;
  readonly waitMs: number;
  readonly prepare: boolean;
  readonly cure: string;
}

function pooledDedup(
  { client, autoMigrate = true, observer }: PostgresDedupOptions,
  parts: DedupParts,
  migrateOn: (pool: Pool<unknown>) => Promise<void>,
): PostgresDedup {
  const known = clientKind(client);
  if (known.kind !== "pg_pool" && known.kind !== "postgres_sql" && known.kind !== "orm") {
    throw new PosthornError<StoreErrorCode>(
      "store_client_unsupported",
      "A single connection was handed in as `client`; expected a pool. Hand a transaction of yours in as `tx`.",
    );
  }
  const pool = poolOf(known, parts.prepare);
  const migrate = (): Promise<void> => migrateOn(pool);
  const recorder = new PooledDedup({ ...parts, pool, migrate: autoMigrate ? migrate : undefined, observer });
  const purge = async (limits: PurgeLimits): Promise<PurgeReport> => {
    const batch = { table: parts.table, acquireMs: limits.deadlineMs };
    try {
      return await purgeInBatches(limits, systemClock, {
        remove: (limit) => removeExpired(pool, limit, batch),
        isMore: () => isAnyExpired(pool, batch),
      });
    } catch (error) {
      throw storeError(error, parts.cure);
    }
  };
  return { record: recordWith(recorder), migrate, purge };
}

function recordWith(recorder: PooledDedup | TransactionDedup): PostgresTransactionDedup["record"] {
  // Asynchronous, so that a wrong ttl rejects; and without an await, which every id would pay for.
  return async (id, ttlSeconds) => {
    checkDedup(id, ttlSeconds);
    const stored = storedId(id);
    if ("then" in stored) return stored.then((each) => recorder.record(each.id, ttlSeconds));
    return recorder.record(stored.id, ttlSeconds);
  };
}
