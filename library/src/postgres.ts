/**
 * `posthorn/postgres`: the inbox, the outbox and the memory of ids in Postgres, on a pool of `pg` or `postgres`.
 *
 * @module
 */
export { postgresDedup } from "./stores/postgres/dedup/dedup.js";
export type {
  PostgresDedup,
  PostgresDedupOptions,
  PostgresOrmDedupOptions,
  PostgresTransactionDedupOptions,
  PostgresTransactionDedup,
} from "./stores/postgres/dedup/dedup.js";
export { postgresStore } from "./stores/postgres/store.js";
export type { PostgresStore, PostgresStoreOptions } from "./stores/postgres/store.js";
export type { PostgresDurability } from "./stores/postgres/client/durability.js";
export { migrate } from "./stores/postgres/schema/migrate.js";
export { MIGRATIONS } from "./stores/postgres/schema/migrations.js";
export type {
  MigrateOptions,
  Migration,
  MigrationReport,
  MigrationSet,
} from "./stores/postgres/schema/migrate.js";
export type { PostgresConnection, PostgresPool } from "./stores/postgres/client/drivers.js";
