/**
 * `posthorn`: the whole library. Receivers at the edge that only verify import `posthorn/verify`.
 *
 * @module
 */
export { systemClock } from "./clock.js";
export { ERROR_CODES } from "./errors.js";
export type { ErrorCode } from "./errors.js";
export type { EventHeaders } from "./event-headers.js";
export { diagnose } from "./signature/forensics/forensics.js";
export * from "./verify.js";
export { dedup } from "./inbox/dedup.js";
export type { DedupAdapter, DedupOptions, DedupVerdict } from "./inbox/dedup.js";
export type {
  Handler,
  HandlerContext,
  Handlers,
  InnerPublishing,
  InnerResult,
  InnerHandler,
  Publisher,
  Publishing,
  ReceivedEvent,
  ReceiverTypes,
  Schema,
  TransactionContext,
  TypedEvents,
} from "./inbox/handler/handlers.js";
export { typed, typedEvents } from "./inbox/handler/handlers.js";
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
export type { StoreErrorCode } from "./store-errors.js";
export type { StoreCapabilities, TransactionMode } from "./store-capabilities.js";
export type { Publication } from "./publication.js";
export { createReceiver } from "./inbox/receiver.js";
export type {
  Receiver,
  ReceiverOptions,
  ReceiverReply,
  RequestRefusal,
  StoreFirstOptions,
} from "./inbox/receiver.js";
export { again } from "./inbox/handler/again.js";
export type { Again } from "./inbox/handler/again.js";
export type {
  ErrorClass,
  ErrorDeed,
  ErrorMatch,
  ErrorRule,
  StatusMatch,
} from "./inbox/handler/error-rules.js";
export type { Compared, DropStale, NewestStore, ResourceVersion } from "./inbox/handler/newest.js";
export type { InnerNewest, NewestContext } from "./inbox/handler/handlers.js";
export { createWorker } from "./inbox/worker/worker.js";
export type { Worker, WorkerDrainLimits, WorkerDrainReport } from "./inbox/worker/worker.js";
export type {
  ConsumerOptions,
  WorkerHandler,
  WorkerHandlers,
  WorkerOptions,
} from "./inbox/worker/worker-options.js";
export { long } from "./inbox/handler/long.js";
export type {
  AsynchronousEnd,
  Long,
  LongContext,
  LongEnd,
  LongHandler,
  LongOptions,
} from "./inbox/handler/long.js";
export type { Step, Stepping } from "./inbox/handler/steps.js";
export type { InboxRound, StepKey, StepState, StepStore } from "./inbox/handler/step-store.js";
export { batch } from "./inbox/handler/batch.js";
export type {
  AsynchronousBatch,
  Batch,
  BatchContext,
  BatchHandler,
  BatchOptions,
  EventBatch,
  SynchronousBatch,
} from "./inbox/handler/batch.js";
export type {
  Applied,
  ApplyLimits,
  ApplyWork,
  EnteredDelivery,
  WorkerStore,
} from "./inbox/worker/worker-store.js";
export type { KeeperStore, KeptEvent } from "./inbox/keeper.js";
export type {
  HandlerConsumer,
  HandlerPause,
  HandlerVersion,
  RegisteredHandler,
} from "./lanes/handler-consumer.js";
export type { Receipt } from "./receipt.js";
export type { PlaceOption } from "./place.js";
export type { DedupRule } from "./dedup-rule.js";
export type { OrderOptions, SourceOptions } from "./inbox/source.js";
export type { EventOrder } from "./inbox/arrival/hold-rule.js";
export type { Gap, HoldMark } from "./hold-mark.js";
export type { Verdict } from "./inbox/verdict.js";
export type { AttemptDetails, AttemptRecord, AttemptTimings } from "./lanes/attempt-record.js";
export type {
  Claim,
  Claimable,
  ClaimAnswer,
  ClaimedDelivery,
  ClaimRequest,
  NextState,
  RunLimits,
  SequenceReport,
  Settled,
  Settlement,
  SettleRequest,
} from "./lanes/lane-store.js";
export type { DeliveryStore } from "./delivery/delivery-store.js";
export type { Endpoint, EndpointChange, EndpointState, EndpointView, Order } from "./outbox/endpoint.js";
export type { DeadPolicy } from "./lanes/dead.js";
export type {
  ForgetLimits,
  IncomingEvent,
  IncomingName,
  Ingested,
  IngestStore,
} from "./outbox/ingest-store.js";
export type { SecretSeal } from "./outbox/secret-seal.js";
export type { EndpointOptions, EndpointUpdate } from "./outbox/endpoint-options.js";
export type { Endpoints } from "./outbox/endpoints.js";
export type { OutboxStore, Written } from "./outbox/outbox-store.js";
export type { OutgoingEvent } from "./outbox/outgoing-event.js";
export { createSender } from "./outbox/sender.js";
export type { Published, Sender, SenderOptions } from "./outbox/sender.js";
export type { RetryOptions, RetryPolicy } from "./work/retry-policy.js";
export type { Hint, Wake } from "./work/wake.js";
