/** How much waits at one endpoint. */
export interface EndpointStanding {
  readonly endpointId: string;
  readonly tenant: string;
  /** Deliveries, those behind a dead head included. */
  readonly waiting: number;
  readonly haltedLanes: number;
  readonly parkedLanes: number;
  /** Lanes whose head has failed and is tried again. */
  readonly retryingLanes: number;
  /** What stands in halted and parked lanes, the dead heads included. */
  readonly blocked: number;
  /** How long the longest due or blocked delivery has been so; undefined where none is. */
  readonly oldestMs: number | undefined;
  /** False where more waits than was counted. */
  readonly exact: boolean;
}

/** What of a standing is said of a handler too. */
export type Waiting = Omit<EndpointStanding, "endpointId" | "tenant">;

/** How much waits, where nothing may. */
export function waitingOf(standing: EndpointStanding | undefined): Waiting {
  const { waiting = 0, haltedLanes = 0, parkedLanes = 0, retryingLanes = 0 } = standing ?? {};
  const { blocked = 0, oldestMs, exact = true } = standing ?? {};
  return { waiting, haltedLanes, parkedLanes, retryingLanes, blocked, oldestMs, exact };
}

/** One event in its place in a lane. */
export interface QueuedDelivery {
  readonly sequence: bigint;
  readonly eventId: string;
  readonly type: string;
  /** When it happened. */
  readonly time: Date;
  readonly writtenAt: Date;
}

/** Which end of a lane is wanted. */
export type QueuePart =
  /** The last that are finished. */
  | "finished"
  /** From the head on. */
  | "first"
  /** The newest. */
  | "last";

/** How a round of a delivery ended, other than by being delivered. */
export interface DeliveryEnd {
  readonly round: number;
  readonly how: "dead" | "cancelled";
  readonly because: string;
  readonly at: Date;
  readonly resolvedAt: Date | undefined;
  readonly resolvedHow: "redriven" | "skipped" | "cancelled" | "forgotten" | undefined;
}

/** Requests that carried an event which had come before, with one body. */
export interface RepeatRecord {
  readonly kind: "duplicate" | "conflict";
  readonly receipts: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyHash: Uint8Array;
  /** Undefined where it is the stored event's. */
  readonly body: Uint8Array | undefined;
}

/** What a page shows of many rows at once. Each sentence is a case of the conformance kit, in the same words. */
export interface ViewStore {
  /** How much waits at each endpoint at which something does, in the order of their ids. */
  standings(): Promise<readonly EndpointStanding[]>;
  /** One end of a lane, in the order of its sequences. */
  queue(laneId: bigint, part: QueuePart, limit: number): Promise<readonly QueuedDelivery[]>;
  /** How the rounds of a delivery ended, other than by being delivered, in their order. */
  ends(deliveryId: string): Promise<readonly DeliveryEnd[]>;
  /** The duplicates and conflicts of an event, oldest first. */
  repeats(tenant: string, eventId: string): Promise<readonly RepeatRecord[]>;
  /** The ids of the events that came under these names, while their windows last. */
  namedEvents(tenant: string, names: readonly string[]): Promise<readonly string[]>;
  /** Ids that begin with this text, the last in their order first. */
  eventIds(tenant: string, prefix: string, limit: number): Promise<readonly string[]>;
  /** The tenants that have an event of this id, in the order of their names, a hundred at most. */
  tenantsOf(eventId: string): Promise<readonly string[]>;
}

/** How many tenants of one id are named. */
export const MOST_TENANTS = 100;

/** How many lanes, and deliveries without one, are counted of each endpoint, and how many blocked lanes of all. */
export const MOST_COUNTED = { perEndpoint: 1000, blocked: 10_000 } as const;
