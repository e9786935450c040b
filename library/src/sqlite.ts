/**
 * `posthorn/sqlite`: inbox, outbox and dedup in the host's own SQLite database.
 *
 * @module
 */
export type { SqliteDatabase } from "./stores/sqlite/client/client.js";
export { sqliteDedup } from "./stores/sqlite/dedup/dedup.js";
export type { SqliteDedup, SqliteDedupOptions } from "./stores/sqlite/dedup/dedup.js";
export type { Durability } from "./stores/sqlite/client/durability.js";
export { migrate } from "./stores/sqlite/schema/migrate.js";
export type {
  MigrateOptions,
  Migration,
  MigrationReport,
  MigrationSet,
} from "./stores/sqlite/schema/migrate.js";
export { MIGRATIONS } from "./stores/sqlite/schema/migrations.js";
export { endLeases } from "./stores/sqlite/lanes/end-leases.js";
export type { EndLeasesOptions } from "./stores/sqlite/lanes/end-leases.js";
export { sqliteStore } from "./stores/sqlite/store.js";
export type { SqliteStore, SqliteStoreOptions } from "./stores/sqlite/store.js";
