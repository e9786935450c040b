/**
 * `posthorn/memory`: dedup, inbox and outbox in this process, for tests and development.
 *
 * @module
 */
export { memoryDedup } from "./stores/memory/dedup.js";
export type { MemoryDedup, MemoryDedupOptions } from "./stores/memory/dedup.js";
export { memoryStore } from "./stores/memory/inbox.js";
export type { MemoryStore, MemoryStoreOptions, RefusedEvent } from "./stores/memory/inbox.js";
export { memoryOutbox } from "./stores/memory/outbox.js";
export type { MemoryOutbox, MemoryOutboxOptions } from "./stores/memory/outbox.js";
export type { CancelledBecause, CancelledDelivery } from "./stores/memory/outbox-history.js";
export type { Environment } from "./stores/memory/not-durable.js";
export type { MemoryTx } from "./stores/memory/transaction.js";
