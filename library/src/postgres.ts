/**
 * `posthorn/postgres`: the inbox, the outbox and the memory of ids in Postgres, on a pool of `pg` or `postgres`.
 *
 * @module
 */
export { postgresDedup } from "./stores/postgres/dedup.js";
export type {
  PostgresDedup,
  PostgresDedupOptions,
  PostgresTransactionDedup,
} from "./stores/postgres/dedup.js";
export { postgresOutbox } from "./stores/postgres/outbox.js";
export type { PostgresOutboxOptions } from "./stores/postgres/outbox.js";
export { postgresStore } from "./stores/postgres/inbox.js";
export type { PostgresStoreOptions } from "./stores/postgres/inbox.js";
export type { PostgresDurability } from "./stores/postgres/durability.js";
export { migrate } from "./stores/postgres/migrate.js";
export { MIGRATIONS } from "./stores/postgres/migrations.js";
export type { MigrateOptions, Migration, MigrationReport, MigrationSet } from "./stores/postgres/migrate.js";
export type { PostgresConnection, PostgresPool } from "./stores/postgres/client.js";
