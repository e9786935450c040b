/**
 * `posthorn/sqlite`: inbox, outbox and dedup in the host's own SQLite database.
 *
 * @module
 */
export type { SqliteDatabase } from "./stores/sqlite/client.js";
export { sqliteDedup } from "./stores/sqlite/dedup.js";
export type { SqliteDedup, SqliteDedupOptions } from "./stores/sqlite/dedup.js";
export type { Durability } from "./stores/sqlite/durability.js";
export { sqliteStore } from "./stores/sqlite/inbox.js";
export type { SqliteStoreOptions } from "./stores/sqlite/inbox.js";
export { migrate } from "./stores/sqlite/migrate.js";
export type { MigrateOptions, Migration, MigrationReport, MigrationSet } from "./stores/sqlite/migrate.js";
export { MIGRATIONS } from "./stores/sqlite/migrations.js";
export { endLeases } from "./stores/sqlite/release.js";
export type { EndLeasesOptions } from "./stores/sqlite/release.js";
export { sqliteOutbox } from "./stores/sqlite/outbox.js";
export type { SqliteOutboxOptions } from "./stores/sqlite/outbox.js";
