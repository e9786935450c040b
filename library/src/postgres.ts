/**
 * `posthorn/postgres`: the inbox, the outbox and the memory of ids in Postgres, on a pool of `pg` or `postgres`.
 *
 * @module
 */
export { postgresDedup } from "./stores/postgres/dedup/dedup.js";
export type {
  PostgresDedup,
  PostgresDedupOptions,
  PostgresTransactionDedup,
} from "./stores/postgres/dedup/dedup.js";
export { postgresOutbox } from "./stores/postgres/outbox/outbox.js";
export type { PostgresOutboxOptions } from "./stores/postgres/outbox/outbox.js";
export { postgresStore } from "./stores/postgres/inbox/inbox.js";
export type { PostgresStoreOptions } from "./stores/postgres/inbox/inbox.js";
export type { PostgresDurability } from "./stores/postgres/client/durability.js";
export { migrate } from "./stores/postgres/schema/migrate.js";
export { MIGRATIONS } from "./stores/postgres/schema/migrations.js";
export type {
  MigrateOptions,
  Migration,
  MigrationReport,
  MigrationSet,
} from "./stores/postgres/schema/migrate.js";
export type { PostgresConnection, PostgresPool } from "./stores/postgres/client/client.js";
