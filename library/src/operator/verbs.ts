import type { AttemptRecord } from "../lanes/attempt-record.js";
import type { Consumers } from "./consumers.js";
import type { DeadFilter, DeadGroupFilter } from "./dead-filter.js";
import type { DeadGroup, DeadRound, DeadSummary, LaneCancelled, RedrivenRound } from "./dead-store.js";
import type { HeldFilter, HeldRecord, HeldReleased } from "./held-store.js";
import type {
  ConsumerStanding,
  InboxAddress,
  InboxFailure,
  InboxFilter,
  InboxPrefix,
  InboxRecord,
  RefusedFilter,
  RefusedRecord,
} from "./inbox-view-store.js";
import type {
  DeliverySummary,
  EventSummary,
  LaneSummary,
  OutboxCensus,
  StoredEvent,
} from "./lookup-store.js";
import type {
  BlockedLane,
  DeadLetter,
  Page,
  Paged,
  Redriven,
  RetryTarget,
  Skipped,
} from "./operator-store.js";
import type { Plain } from "./plain.js";
import type { EventWish } from "./provider-id.js";
import type { Reason } from "./reason.js";
import type { Replays } from "./replays.js";
import type { RedrivenEvent, SetAsideEvent } from "./set-aside-store.js";

/** A sequence or a lane's id, as this module hands it out or as the engine counts. */
export type Whole = string | bigint;

/** Which dead letters are wanted, in numbers or in the texts that `deadSummary` gave. */
export type DeadWish = Omit<DeadFilter, "upTo"> & { readonly upTo?: Whole | undefined };

/** What is to be tried now. A lane is named as this module names it. */
export type Retry = Exclude<RetryTarget, { readonly laneId: bigint }> | { readonly laneId: Whole };

/** How a person looks into an outbox and intervenes. What it answers can be written as JSON: big numbers are texts. */
export interface Operator {
  /** Lanes that do not move, longest blocked first: what to look at when somebody waits for an event. */
  blockedLanes(page?: Partial<Page>): Promise<Paged<Plain<BlockedLane>>>;
  /** Deliveries that were given up, newest first; with a filter, those alone that it lets through. */
  deadLetters(page?: Partial<Page>, filter?: DeadWish): Promise<Paged<Plain<DeadLetter>>>;
  /** Every attempt of a delivery, in order. */
  attempts(deliveryId: string): Promise<readonly Plain<AttemptRecord>[]>;
  /**
   * Makes a dead delivery due again: in its old place where its lane has waited for it, at the end where it has not. At a
   * handler also one that was skipped or cancelled.
   */
  redrive(deliveryId: string, reason?: Reason): Promise<Redriven>;
  /** Passes over the head of a lane, where it is this one: the lane goes on, and receivers are told of the gap. A second call changes nothing. */
  skip(laneId: Whole, head: Whole, reason?: Reason): Promise<Skipped>;
  /**
   * Makes what has failed and waits for its next attempt due now: all of an endpoint, a lane, or one delivery. Says how many
   * deliveries that were. After an outage, nobody has to wait for the end of the pauses that had grown meanwhile.
   */
  retry(what: Retry, reason?: Reason): Promise<number>;
  /**
   * To be called once after a backup was restored, before anything is delivered; says how many lanes there are. Where it threw, or
   * its process ended, it is to be called again.
   */
  raiseGenerations(reason?: Reason): Promise<number>;
}

/** How a person finds what was published, where the store can look it up. */
export interface Lookups {
  /** Stored and published events, newest first; with `source` and `providerId` the one that its provider gave this id. */
  events(filter?: EventWish, page?: Partial<Page>): Promise<Paged<EventSummary>>;
  /** An event with its bytes; undefined where the tenant has published none of this id. */
  event(tenant: string, id: string): Promise<StoredEvent | undefined>;
  /** Every delivery of these events, and how it stands. */
  deliveriesOf(tenant: string, eventIds: readonly string[]): Promise<readonly Plain<DeliverySummary>[]>;
  delivery(id: string): Promise<Plain<DeliverySummary> | undefined>;
  /** Lanes in which something waits, whether they move or not. */
  lanes(
    filter?: { readonly endpointId?: string | undefined },
    page?: Partial<Page>,
  ): Promise<Paged<Plain<LaneSummary>>>;
  lane(id: Whole): Promise<Plain<LaneSummary> | undefined>;
  /** How much waits, for metrics. */
  census(): Promise<OutboxCensus>;
}

/** How a person finds what could not be sequenced, where the store can. */
export interface SetAsides {
  /** Events that could not be given their places and were not redriven since, newest first. */
  setAside(page?: Partial<Page>): Promise<Paged<Plain<SetAsideEvent>>>;
  /** Lets an event that was set aside have its places after all, at the ends of its lanes. */
  redriveEvent(number: Whole, reason?: Reason): Promise<RedrivenEvent>;
}

/** How a person looks into an inbox, where the store can show it. */
export interface InboxViews {
  /** Rows of the inbox, newest first unless the filter says otherwise. */
  inboxRows(filter?: InboxFilter, page?: Partial<Page>): Promise<Paged<InboxRecord>>;
  /** Rows whose ids begin with a text, in the order of their ids. */
  inboxByPrefix(prefix: InboxPrefix, page?: Partial<Page>): Promise<Paged<InboxRecord>>;
  /** The rows of one event, one for each consumer that has handled it. */
  inboxRowsOf(tenant: string, source: string, id: string): Promise<readonly InboxRecord[]>;
  /** The failures of one row whose handler ran within its request. Those of a worker are attempts of its deliveries. */
  inboxFailures(address: InboxAddress): Promise<readonly InboxFailure[]>;
  /** Conflicts and stale events, with their bytes. */
  refusedEvents(filter?: RefusedFilter, page?: Partial<Page>): Promise<Paged<RefusedRecord>>;
  /** The handlers that workers have registered, and how much waits for each. */
  consumers(): Promise<readonly ConsumerStanding[]>;
}

/** How a person finds events that wait for others of their key, where the store can hold them. */
export interface Helds {
  /** Events that are held, by source and key: what is missing, since when, and until when at the latest. */
  held(filter?: HeldFilter, page?: Partial<Page>): Promise<Paged<Plain<HeldRecord>>>;
  /** What one event waits for, or what was decided when its hold ended; undefined where its source holds nothing. */
  heldEvent(tenant: string, eventId: string): Promise<Plain<HeldRecord> | undefined>;
  /** Gives up what a held event waits for: it goes on now, after those that are held before it. */
  release(tenant: string, eventId: string, reason?: Reason): Promise<Plain<HeldReleased>>;
}

/** How a person deals with many dead letters at once, where the store can. */
export interface Bulk {
  /** Dead letters that died alike, counted without reading them. */
  deadGroups(filter?: DeadGroupFilter): Promise<readonly DeadGroup[]>;
  /** What the dead letters of a filter come to: how many, in how many lanes, and how much waits behind them. */
  deadSummary(filter?: DeadWish): Promise<Plain<DeadSummary>>;
  /** Redrives each in its round, in the given order; at most a few hundred in one call. */
  redriveAll(letters: readonly DeadRound[], reason?: Reason): Promise<readonly RedrivenRound[]>;
  /** Cancels what waits in a lane, from its head to this sequence: nothing of it will be sent. */
  cancel(laneId: Whole, through: Whole, reason?: Reason): Promise<LaneCancelled>;
}

/** Every verb that an operator can have. */
export type Verbs = Operator & Lookups & Bulk & SetAsides & InboxViews & Helds & Consumers & Replays;
