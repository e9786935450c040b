import { systemClock } from "../../../clock.js";
import type { DedupAdapter, DedupVerdict } from "../../../inbox/dedup.js";
import type { PurgeLimits, PurgeReport } from "../../../inbox/inbox-store.js";
import { storedId } from "../../../inbox/stored-id.js";
import type { Observer } from "../../../observer.js";
import { clientKind, poolOf, sessionOf } from "../client/client.js";
import type { PostgresConnection, PostgresPool } from "../client/drivers.js";
import { isAnyExpired, removeExpired } from "./batch.js";
import { PooledDedup } from "./coalesced.js";
import { TransactionDedup } from "./in-transaction.js";
import { MIGRATE_CURE, migrateDedup } from "../schema/migrate.js";
import {
  checkedMs,
  DEFAULT_DEDUP_TABLE,
  DEFAULT_SCHEMA,
  optionInvalid,
  quotedName,
} from "../client/identifiers.js";
import { purgeInBatches } from "../inbox/purge.js";
import { storeError } from "../client/failure.js";

export interface PostgresDedupOptions<Client> {
  /**
   * A pool: calls of the same moment share one statement. Or a connection inside of a transaction of yours: then
   * its rollback forgets the id, and its commit remembers it.
   */
  readonly client: Client;
  /** @default "dedup" */
  readonly tableName?: string;
  /** @default "posthorn" */
  readonly schema?: string;
  /** Creates the table when it is found missing; only on a pool, never inside of a transaction. @default true */
  readonly autoMigrate?: boolean;
  /** How long an id that another transaction holds is waited for, before `dedup_busy` is thrown. @default 1,000 */
  readonly waitMs?: number;
  /** False for poolers that cannot keep prepared statements. @default true */
  readonly prepare?: boolean;
  readonly observer?: Observer;
}

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
 * const adapter = postgresDedup({ client: pool });
 * const { duplicate } = await dedup("invoice.paid", "evt_1", { ttl: 14 * 24 * 3600, adapter });
 */
export function postgresDedup(options: PostgresDedupOptions<PostgresPool<unknown>>): PostgresDedup;
export function postgresDedup(options: PostgresDedupOptions<PostgresConnection>): PostgresTransactionDedup;
export function postgresDedup(
  options: PostgresDedupOptions<PostgresPool<unknown> | PostgresConnection>,
): PostgresTransactionDedup {
  const { tableName = DEFAULT_DEDUP_TABLE, schema = DEFAULT_SCHEMA, waitMs = 1000, prepare = true } = options;
  const table = quotedName("tableName", tableName);
  const quotedSchema = quotedName("schema", schema);
  checkedMs("waitMs", waitMs);
  const known = clientKind(options.client);
  const standard = tableName === DEFAULT_DEDUP_TABLE && schema === DEFAULT_SCHEMA;
  const custom = `Create it with \`await postgresDedup({ client: pool, schema: "${schema}", tableName: "${tableName}" }).migrate()\`.`;
  const parts = { table: `${quotedSchema}.${table}`, waitMs, cure: standard ? MIGRATE_CURE : custom };
  if (known.kind !== "pg_pool" && known.kind !== "postgres_sql") {
    const recorder = new TransactionDedup({ ...parts, session: sessionOf(known, prepare) });
    return { record: recordWith(recorder) };
  }
  const pool = poolOf(known, prepare);
  const migrate = (): Promise<void> => migrateDedup(pool, quotedSchema, table);
  const { autoMigrate = true, observer } = options;
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
  const adapter: PostgresDedup = { record: recordWith(recorder), migrate, purge };
  return adapter;
}

function recordWith(recorder: PooledDedup | TransactionDedup): PostgresTransactionDedup["record"] {
  return (id, ttlSeconds) => {
    // Postgres has an infinite timestamp: the id would never expire.
    if (!Number.isFinite(ttlSeconds) || ttlSeconds <= 0) {
      return Promise.reject(optionInvalid(`The ttl is ${String(ttlSeconds)}; expected seconds above 0.`));
    }
    const stored = storedId(id);
    if ("then" in stored) return stored.then((each) => recorder.record(each.id, ttlSeconds));
    return recorder.record(stored.id, ttlSeconds);
  };
}
