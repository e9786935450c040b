/**
 * `posthorn/memory`: dedup, inbox and outbox in this process, for tests and development.
 *
 * @module
 */
export { memoryDedup } from "./stores/memory/dedup/dedup.js";
export type { MemoryDedup, MemoryDedupOptions } from "./stores/memory/dedup/dedup.js";
export { memoryStore } from "./stores/memory/store.js";
export type { MemoryStore, MemoryStoreOptions } from "./stores/memory/store.js";
export type { RefusedEvent } from "./stores/memory/inbox/inbox.js";
export type { CancelledBecause, CancelledDelivery } from "./stores/memory/lanes/history.js";
export type { Environment } from "./environment.js";
export type { MemoryTx } from "./stores/memory/client/transaction.js";
