/**
 * `posthorn`: the whole library. Receivers at the edge that only verify import `posthorn/verify`.
 *
 * @module
 */
export { systemClock } from "./clock.js";
export { ERROR_CODES } from "./errors.js";
export type { ErrorCode } from "./errors.js";
export { diagnose } from "./signature/forensics.js";
export * from "./verify.js";
export { dedup } from "./inbox/dedup.js";
export type { DedupAdapter, DedupOptions, DedupVerdict } from "./inbox/dedup.js";
export type {
  Handler,
  HandlerContext,
  Handlers,
  InnerContext,
  InnerHandler,
  ReceivedEvent,
  TransactionContext,
} from "./inbox/handlers.js";
export type { InboxErrorCode } from "./inbox/inbox-errors.js";
export type {
  Acceptance,
  AcceptLimits,
  Arrival,
  Handled,
  InboxKey,
  InboxOutcome,
  InboxRow,
  InboxStore,
  KnownEvent,
  PurgeLimits,
  PurgeReport,
  RefusedBecause,
} from "./inbox/inbox-store.js";
export type { StoreCapabilities, TransactionMode } from "./store-capabilities.js";
export type { Publication } from "./publication.js";
export type { Publisher } from "./inbox/publisher.js";
export { createReceiver } from "./inbox/receiver.js";
export type { Receiver, ReceiverOptions } from "./inbox/receiver.js";
export { typed } from "./inbox/schema.js";
export type { Schema } from "./inbox/schema.js";
export type { SourceOptions } from "./inbox/source.js";
export type { Verdict } from "./inbox/verdict.js";
