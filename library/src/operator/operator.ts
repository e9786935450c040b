import type { AttemptRecord } from "../lanes/attempt-record.js";
import type {
  DeliverySummary,
  EventFilter,
  EventSummary,
  LaneSummary,
  LookupStore,
  OutboxCensus,
  StoredEvent,
} from "./lookup-store.js";
import type {
  BlockedLane,
  DeadLetter,
  OperatorStore,
  Page,
  Paged,
  Redriven,
  Skipped,
} from "./operator-store.js";

/** How a person looks into an outbox and intervenes. */
export interface Operator {
  /** Lanes that do not move, longest blocked first: what to look at when somebody waits for an event. */
  blockedLanes(page?: Partial<Page>): Promise<Paged<BlockedLane>>;
  /** Deliveries that were given up, newest first. */
  deadLetters(page?: Partial<Page>): Promise<Paged<DeadLetter>>;
  /** Every attempt of a delivery, in order. */
  attempts(deliveryId: string): Promise<readonly AttemptRecord[]>;
  /** Makes a dead delivery due again: in its old place where its lane has waited for it, at the end where it has not. */
  redrive(deliveryId: string): Promise<Redriven>;
  /** Passes over the head of a lane, where it is this one: the lane goes on, and receivers are told of the gap. A second call changes nothing. */
  skip(laneId: bigint, head: bigint): Promise<Skipped>;
}

/** How a person finds what was published, where the store can look it up. */
export interface Lookups {
  /** Published events, newest first. */
  events(filter?: EventFilter, page?: Partial<Page>): Promise<Paged<EventSummary>>;
  /** An event with its bytes; undefined where the tenant has published none of this id. */
  event(tenant: string, id: string): Promise<StoredEvent | undefined>;
  /** Every delivery of these events, and how it stands. */
  deliveriesOf(tenant: string, eventIds: readonly string[]): Promise<readonly DeliverySummary[]>;
  delivery(id: string): Promise<DeliverySummary | undefined>;
  /** Lanes in which something waits, whether they move or not. */
  lanes(
    filter?: { readonly endpointId?: string | undefined },
    page?: Partial<Page>,
  ): Promise<Paged<LaneSummary>>;
  lane(id: bigint): Promise<LaneSummary | undefined>;
  /** How much waits, for metrics. */
  census(): Promise<OutboxCensus>;
}

const DEFAULT_LIMIT = 100;
const MOST = 1000;

/**
 * Makes an operator of a store's outbox; one that can look up events gives an operator that can.
 *
 * @example
 * const operator = createOperator({ store: outbox });
 * for (const lane of (await operator.blockedLanes()).items) console.log(lane.key, lane.state, lane.depth);
 */
export function createOperator(options: { readonly store: OperatorStore & LookupStore }): Operator & Lookups;
export function createOperator(options: { readonly store: OperatorStore }): Operator;
export function createOperator({ store }: { readonly store: OperatorStore }): Operator {
  const verbs: Operator = {
    blockedLanes: (page) => store.blockedLanes(pageOf(page)),
    deadLetters: (page) => store.deadLetters(pageOf(page)),
    attempts: (deliveryId) => store.attempts(deliveryId),
    redrive: (deliveryId) => store.redrive(deliveryId),
    skip: (laneId, head) => store.skip(laneId, head),
  };
  return canLookUp(store) ? { ...verbs, ...lookupsOf(store) } : verbs;
}

function canLookUp(store: OperatorStore): store is OperatorStore & LookupStore {
  return "deliveriesOf" in store;
}

function lookupsOf(store: LookupStore): Lookups {
  return {
    events: (filter = {}, page) => store.events(filter, pageOf(page)),
    event: (tenant, id) => store.event(tenant, id),
    deliveriesOf: (tenant, eventIds) => store.deliveriesOf(tenant, eventIds),
    delivery: (id) => store.delivery(id),
    lanes: (filter = {}, page) => store.lanes(filter, pageOf(page)),
    lane: (id) => store.lane(id),
    census: () => store.census(),
  };
}

function pageOf({ limit = DEFAULT_LIMIT, after }: Partial<Page> = {}): Page {
  return { limit: Math.min(Math.max(1, Math.trunc(limit)), MOST), after };
}
