/**
 * `posthorn/operator`: look into an outbox, redrive what is dead, skip what blocks.
 *
 * @module
 */
export { createOperator } from "./operator/operator.js";
export type { Lookups, Operator } from "./operator/operator.js";
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
  Skipped,
} from "./operator/operator-store.js";
export type { GatewayOutbox, Outbox } from "./operator/outbox.js";
export type { Store } from "./operator/store.js";
export { DEAD_REASONS } from "./lanes/dead.js";
export type { DeadBecause } from "./lanes/dead.js";
export type { AttemptRecord } from "./lanes/attempt-record.js";
