/**
 * `posthorn/operator`: look into an outbox, redrive what is dead, skip what blocks, remove what is old.
 *
 * @module
 */
export { createOperator } from "./operator/operator.js";
export type { OperatorOptions } from "./operator/operator.js";
export type {
  Bulk,
  DeadWish,
  Helds,
  InboxViews,
  Lookups,
  Operator,
  Retry,
  SetAsides,
  Verbs,
  Whole,
} from "./operator/verbs.js";
export type { Reason } from "./operator/reason.js";
export type { EventWish } from "./operator/provider-id.js";
export type { Plain } from "./operator/plain.js";
export type {
  DeliveryState,
  DeliverySummary,
  EventFilter,
  EventSummary,
  LaneSummary,
  LookupStore,
  OutboxCensus,
  StoredEvent,
} from "./operator/lookup-store.js";
export type {
  BlockedLane,
  BlockedState,
  DeadLetter,
  OperatorStore,
  Page,
  Paged,
  Redriven,
  RetryTarget,
  Skipped,
} from "./operator/operator-store.js";
export { MOST_SUMMED } from "./operator/dead-store.js";
export type { DeadFilter, DeadGroupFilter } from "./operator/dead-filter.js";
export type {
  DeadGroup,
  DeadRound,
  DeadStore,
  DeadSummary,
  LaneCancelled,
  RedrivenRound,
} from "./operator/dead-store.js";
export type { RedrivenEvent, SetAsideEvent, SetAsideStore } from "./operator/set-aside-store.js";
export { createRetention } from "./retention/retention.js";
export type { Retention, RetentionOptions, RetentionReport } from "./retention/retention.js";
export { DEFAULT_WINDOWS } from "./retention/windows.js";
export type { RetentionWindows } from "./retention/windows.js";
export { RETENTION_KINDS } from "./retention/retention-store.js";
export type {
  Removal,
  RemovalStep,
  RetentionCensus,
  RetentionKind,
  RetentionState,
  RetentionStore,
} from "./retention/retention-store.js";
export type {
  DeliveryEnd,
  EndpointStanding,
  QueuedDelivery,
  QueuePart,
  RepeatRecord,
  ViewStore,
} from "./operator/view-store.js";
export { reconcile } from "./operator/reconcile.js";
export type { Difference, ReconcileOptions, Reconciliation, ReconcilingStore } from "./operator/reconcile.js";
export type { ReconciledEvent } from "./operator/reconcile-page.js";
export type { RefusedRedriven, Replays, ReplayingStore } from "./operator/replays.js";
export type { Forgotten, ReplayStore, StagedAgain, WantedAgain } from "./operator/replay-store.js";
export { WORKER_GONE_MS } from "./worker-gone.js";
export type {
  ConsumerStanding,
  InboxAddress,
  InboxFailure,
  InboxFilter,
  InboxPrefix,
  InboxRecord,
  InboxViewStore,
  RefusedFilter,
  RefusedRecord,
} from "./operator/inbox-view-store.js";
export type { Hold, HeldFilter, HeldRecord, HeldReleased, HeldStore } from "./operator/held-store.js";
export { LONGEST_PAUSE_MS } from "./operator/consumers.js";
export type {
  ConsumerPause,
  ConsumerRemoval,
  Consumers,
  PausingStore,
  RemovedConsumer,
} from "./operator/consumers.js";
export type { Gap } from "./hold-mark.js";
export type { Store } from "./operator/store.js";
export { DEAD_REASONS } from "./lanes/dead.js";
export type { DeadBecause } from "./lanes/dead.js";
export type { AttemptDetails, AttemptRecord, AttemptTimings } from "./lanes/attempt-record.js";
