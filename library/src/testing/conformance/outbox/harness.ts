import type { LaneStore } from "../../../lanes/lane-store.js";
import type { NewestStore } from "../../../inbox/handler/newest.js";
import type { WorkerStore } from "../../../inbox/worker/worker-store.js";
import type { InboxStore } from "../../../inbox/inbox-store.js";
import type { IngestStore } from "../../../outbox/ingest-store.js";
import type { DeadStore } from "../../../operator/dead-store.js";
import type { HeldStore } from "../../../operator/held-store.js";
import type { InboxViewStore } from "../../../operator/inbox-view-store.js";
import type { ReplayStore } from "../../../operator/replay-store.js";
import type { LookupStore } from "../../../operator/lookup-store.js";
import type { RetentionStore } from "../../../retention/retention-store.js";
import type { ViewStore } from "../../../operator/view-store.js";
import type { SetAsideStore } from "../../../operator/set-aside-store.js";
import type { Store } from "../../../operator/store.js";
import type { CursorStore } from "../../../repair/cursor-store.js";
import type { StoreCapabilities, TransactionMode } from "../../../store-capabilities.js";
import type { BenchTime, Facts, Pledge } from "../case.js";
import { needsOf } from "../case.js";

/**
 * All that a store promises of events on their way out, and of handlers as consumers. Its inbox has a suite of its own, but for
 * `accept`: an event may come in both modes.
 */
export type OutboxUnderTest<Tx, Mode extends TransactionMode = TransactionMode> = Omit<
  Store<Tx, Mode>,
  Exclude<keyof InboxStore<Tx>, "accept" | "capabilities" | "transactions"> | keyof CursorStore
>;

/** A cancelled delivery, as far as the kit looks at it. */
export interface CancelledRecord {
  readonly endpointId: string;
  readonly eventId: string;
  /** `expired`, `skipped`, `cancelled`, `endpoint_removed`, `consumer_removed` or `redriven`. */
  readonly because: string;
}

/** A fresh, empty outbox for one case. */
export interface OutboxBench<Tx = unknown> {
  /** At least two on the same outbox, each as if in a process of its own; the same one twice where there can be only one. */
  readonly outboxes: readonly OutboxUnderTest<Tx>[];
  readonly time: BenchTime;
  /**
   * Runs `work` in a transaction of the host and commits it; rolls back when it throws, and throws that on. `work`
   * returns without a promise where the store's transactions are synchronous.
   */
  transaction<T>(work: (tx: Tx) => Promise<T> | T): Promise<T>;
  /** Every delivery that was cancelled, where the harness can list them. */
  cancelled?(): Promise<readonly CancelledRecord[]>;
  /**
   * Makes the store fail to give events their places whose ids begin so, until the function is called that it resolves
   * to; where the harness can.
   */
  refusePlaces?(prefix: string): Promise<() => Promise<void>>;
  /** How long one call may take before it counts as waiting for another. @default 10,000 */
  readonly patienceMs?: number;
  close(): Promise<void>;
}

/** Tells the kit how to make and use the outbox under test. */
export interface OutboxHarness<Tx> {
  /** What the store claims: each claim is a set of cases, and must be what the store itself says. */
  readonly capabilities: StoreCapabilities;
  readonly transactions: TransactionMode;
  /** Whether the bench's time is exact to the millisecond. */
  readonly exactTime: boolean;
  /** Whether the bench has `cancelled()`. */
  readonly listsCancelled?: boolean;
  /** Whether the bench has `refusePlaces()`. */
  readonly refusesPlaces?: boolean;
  /** Whether the database has one connection, so that nothing can be asked of it beside an open transaction. @default false */
  readonly oneConnection?: boolean;
  open(): Promise<OutboxBench<Tx>>;
  /** Opens one whose next event has this number, so that a new lane begins there; where the harness can. */
  openAt?(firstEvent: bigint): Promise<OutboxBench<Tx>>;
}

/** As a bench of `OutboxHarness`, of outboxes that take nothing in from elsewhere, look nothing up and remove nothing. */
export interface NarrowOutboxBench<Tx = unknown> extends Omit<OutboxBench<Tx>, "outboxes"> {
  readonly outboxes: readonly Omit<
    OutboxUnderTest<Tx>,
    | keyof IngestStore
    | keyof LookupStore
    | keyof RetentionStore
    | keyof ViewStore
    | keyof DeadStore
    | keyof SetAsideStore
    | keyof InboxViewStore
    | keyof HeldStore
    | keyof ReplayStore
    | keyof NewestStore<Tx>
    | "accept"
    | Exclude<keyof WorkerStore<Tx>, keyof LaneStore | "transactions">
  >[];
}

/** For an outbox that serves no gateway: there are no cases of the ports that only a gateway needs for it. */
export interface NarrowOutboxHarness<Tx> extends Omit<OutboxHarness<Tx>, "open" | "openAt"> {
  readonly gateway: false;
  open(): Promise<NarrowOutboxBench<Tx>>;
  openAt?(firstEvent: bigint): Promise<NarrowOutboxBench<Tx>>;
}

/** What the cases know of a harness: not the type of its transaction, which they only pass back. */
export type OutboxPledge = Pledge<OutboxBench>;

export function outboxFacts(harness: OutboxHarness<unknown>): Facts {
  const { capabilities, transactions, exactTime } = harness;
  const { listsCancelled = false, refusesPlaces = false, oneConnection = false } = harness;
  const awaiting = transactions === "asynchronous";
  return {
    ...needsOf(capabilities),
    exactTime,
    awaitingHandlers: awaiting,
    manyWriters: awaiting && !oneConnection,
    manyConnections: !oneConnection,
    cancelledListing: listsCancelled,
    unplaceable: refusesPlaces,
    largeSequences: harness.openAt !== undefined,
  };
}
