import type { Page, Paged } from "./operator-store.js";

/** Which events are wanted; what is left out does not matter. */
export interface EventFilter {
  readonly tenant?: string | undefined;
  readonly source?: string | undefined;
  readonly type?: string | undefined;
  readonly key?: string | undefined;
  /** Written at this time or later, by the store's clock. */
  readonly since?: Date | undefined;
  /** Written before this time. */
  readonly until?: Date | undefined;
}

/** A published event, without its bytes. */
export interface EventSummary {
  readonly id: string;
  readonly tenant: string;
  readonly source: string;
  readonly type: string;
  readonly key: string | undefined;
  /** When it happened. */
  readonly time: Date;
  readonly contentType: string;
  readonly bodyBytes: number;
  /** `in`: from a source, by ingest. `out`: published. */
  readonly direction: "in" | "out";
  /** The store's clock when it was written. */
  readonly writtenAt: Date;
  /** The id that its provider gave it. */
  readonly providerId: string | undefined;
  /** The key that verified its signature. */
  readonly verifiedBy: string | undefined;
  /** The event whose handler published it. */
  readonly causedBy: string | undefined;
  readonly deliverAt: Date | undefined;
  readonly expiresAt: Date | undefined;
}

/** A published event as it is sent. */
export interface StoredEvent extends EventSummary {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** How a delivery stands. */
export type DeliveryState =
  /** Never tried: due, or behind another of its lane. */
  | "waiting"
  /** A worker has it. */
  | "under_way"
  /** It has failed, and is tried again. */
  | "retrying"
  | "delivered"
  | "dead"
  | "cancelled";

/** One event at one endpoint, and what became of it. */
export interface DeliverySummary {
  /** `dlv_…` */
  readonly id: string;
  readonly eventId: string;
  readonly endpointId: string;
  readonly tenant: string;
  readonly type: string;
  readonly laneId: bigint | undefined;
  readonly key: string | undefined;
  readonly sequence: bigint | undefined;
  readonly round: number;
  readonly state: DeliveryState;
  /** Why it is dead or cancelled. */
  readonly because: string | undefined;
  /** Of this round, lapsed ones included. */
  readonly attempts: number;
  readonly lastStatus: number | undefined;
  readonly lastError: string | undefined;
  readonly lastAttemptAt: Date | undefined;
  /** Until its next attempt; undefined when none is planned, or others are before it. */
  readonly dueInMs: number | undefined;
}

/** A lane in which something waits. */
export interface LaneSummary {
  readonly id: bigint;
  readonly tenant: string;
  readonly endpointId: string;
  readonly key: string;
  readonly state: "flowing" | "halted" | "parked" | "retrying" | "paused" | "disabled";
  readonly depth: bigint;
  readonly head: bigint;
  readonly failures: number;
  /** As of a blocked lane; undefined where nothing blocks it. */
  readonly blockedMs: number | undefined;
  /** Until its next attempt, 0 while one is under way; undefined when it has none. */
  readonly dueInMs: number | undefined;
}

/** How much waits, for metrics. */
export interface OutboxCensus {
  /** Committed events that have no places yet. */
  readonly staged: number;
  /** Of these, those that are held because others of their key are missing before them. */
  readonly held: number;
  /** Deliveries that wait or are under way. */
  readonly waiting: number;
  /** How long the longest due delivery has been due; 0 when none is. */
  readonly oldestDueMs: number;
  /** Lanes whose head has failed or is dead. */
  readonly blockedLanes: number;
  readonly dead: number;
  /** Events that could not be given their places, and were not redriven since. */
  readonly setAside: number;
}

/** How a person finds what was published. Each sentence is a case of the conformance kit, in the same words. */
export interface LookupStore {
  /** Newest first. */
  events(filter: EventFilter, page: Page): Promise<Paged<EventSummary>>;
  /** An event with its bytes; undefined where the tenant has published none of this id. */
  event(tenant: string, id: string): Promise<StoredEvent | undefined>;
  /** Every delivery of these events, in the order in which they were sequenced; none of an event that has no places yet. */
  deliveriesOf(tenant: string, eventIds: readonly string[]): Promise<readonly DeliverySummary[]>;
  delivery(id: string): Promise<DeliverySummary | undefined>;
  /** Lanes in which something waits, in the order of their ids; of one endpoint where it is named. */
  lanes(filter: { readonly endpointId?: string | undefined }, page: Page): Promise<Paged<LaneSummary>>;
  lane(id: bigint): Promise<LaneSummary | undefined>;
  census(): Promise<OutboxCensus>;
}
