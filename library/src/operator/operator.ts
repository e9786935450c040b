import { PosthornError } from "../posthorn-error.js";
import type { AttemptRecord } from "../lanes/attempt-record.js";
import type { DeadFilter, DeadGroupFilter } from "./dead-filter.js";
import type {
  DeadGroup,
  DeadRound,
  DeadStore,
  DeadSummary,
  LaneCancelled,
  RedrivenRound,
} from "./dead-store.js";
import type {
  DeliverySummary,
  EventSummary,
  LaneSummary,
  LookupStore,
  OutboxCensus,
  StoredEvent,
} from "./lookup-store.js";
import type {
  ConsumerStanding,
  InboxAddress,
  InboxFailure,
  InboxFilter,
  InboxPrefix,
  InboxRecord,
  InboxViewStore,
  RefusedFilter,
  RefusedRecord,
} from "./inbox-view-store.js";
import { checkNames, checkRows } from "./check-asked.js";
import { asked, inboxName, shown } from "../consumer-name.js";
import { consumersOf } from "./consumers.js";
import type { Consumers, PausingStore } from "./consumers.js";
import type { HeldFilter, HeldRecord, HeldReleased, HeldStore } from "./held-store.js";
import { checkFilter, checkLetters, checkPage, checkPrefix, checkRetry } from "./known-names.js";
import { checkStore } from "../given-store.js";
import type { FilteringVerb } from "./known-names.js";
import type { OperatorErrorCode } from "./operator-errors.js";
import { replaysOf } from "./replays.js";
import type { Replays, ReplayingStore } from "./replays.js";
import { eventsNamed } from "./provider-id.js";
import type { EventWish, NamingStore } from "./provider-id.js";
import { plain } from "./plain.js";
import type { Plain } from "./plain.js";
import type {
  BlockedLane,
  DeadLetter,
  OperatorStore,
  Page,
  Paged,
  Redriven,
  RetryTarget,
  Skipped,
} from "./operator-store.js";
import type { RedrivenEvent, SetAsideEvent, SetAsideStore } from "./set-aside-store.js";

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
  redrive(deliveryId: string): Promise<Redriven>;
  /** Passes over the head of a lane, where it is this one: the lane goes on, and receivers are told of the gap. A second call changes nothing. */
  skip(laneId: Whole, head: Whole): Promise<Skipped>;
  /**
   * Makes what has failed and waits for its next attempt due now: all of an endpoint, a lane, or one delivery. Says how many
   * deliveries that were. After an outage, nobody has to wait for the end of the pauses that had grown meanwhile.
   */
  retry(what: Retry): Promise<number>;
  /**
   * To be called once after a backup was restored, before anything is delivered; says how many lanes there are. Where it threw, or
   * its process ended, it is to be called again.
   */
  raiseGenerations(): Promise<number>;
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
  redriveEvent(number: Whole): Promise<RedrivenEvent>;
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
  release(tenant: string, eventId: string): Promise<Plain<HeldReleased>>;
}

/** How a person deals with many dead letters at once, where the store can. */
export interface Bulk {
  /** Dead letters that died alike, counted without reading them. */
  deadGroups(filter?: DeadGroupFilter): Promise<readonly DeadGroup[]>;
  /** What the dead letters of a filter come to: how many, in how many lanes, and how much waits behind them. */
  deadSummary(filter?: DeadWish): Promise<Plain<DeadSummary>>;
  /** Redrives each in its round, in the given order; at most a few hundred in one call. */
  redriveAll(letters: readonly DeadRound[]): Promise<readonly RedrivenRound[]>;
  /** Cancels what waits in a lane, from its head to this sequence: nothing of it will be sent. */
  cancel(laneId: Whole, through: Whole): Promise<LaneCancelled>;
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
export function createOperator(options: {
  readonly store: OperatorStore &
    LookupStore &
    DeadStore &
    SetAsideStore &
    InboxViewStore &
    HeldStore &
    PausingStore &
    ReplayingStore;
}): Operator & Lookups & Bulk & SetAsides & InboxViews & Helds & Consumers & Replays;
export function createOperator(options: {
  readonly store: OperatorStore & LookupStore & DeadStore & SetAsideStore;
}): Operator & Lookups & Bulk & SetAsides;
export function createOperator(options: {
  readonly store: OperatorStore & LookupStore & DeadStore;
}): Operator & Lookups & Bulk;
export function createOperator(options: { readonly store: OperatorStore & LookupStore }): Operator & Lookups;
export function createOperator(options: { readonly store: OperatorStore }): Operator;
export function createOperator(options: { readonly store: OperatorStore }): Operator {
  checkNames("createOperator", options, { store: true });
  const { store } = options;
  checkStore("operator", store, "blockedLanes");
  const verbs: Operator = {
    blockedLanes: async (page) => plain(await store.blockedLanes(pageOf("blockedLanes", page))),
    deadLetters: async (page, filter) =>
      plain(await store.deadLetters(pageOf("deadLetters", page), filter && filterOf("deadLetters", filter))),
    attempts: async (deliveryId) => plain(await store.attempts(deliveryId)),
    redrive: (deliveryId) => store.redrive(deliveryId),
    skip: async (laneId, head) => store.skip(wholeOf(laneId), wholeOf(head)),
    raiseGenerations: () => store.raiseGenerations(),
    retry: async (what) => {
      checkRetry(what);
      return store.retry("laneId" in what ? { laneId: wholeOf(what.laneId) } : what);
    },
  };
  return {
    ...verbs,
    ...(canLookUp(store) && lookupsOf(store)),
    ...(hasBulk(store) && bulkOf(store)),
    ...(hasSetAside(store) && setAsidesOf(store)),
    ...(showsInbox(store) && inboxViewsOf(store)),
    ...(canHold(store) && heldsOf(store)),
    ...(canPause(store) && consumersOf(store)),
    ...(canReplay(store) && replaysOf(store)),
  };
}

function hasBulk(store: OperatorStore): store is OperatorStore & DeadStore {
  return "deadSummary" in store;
}

function bulkOf(store: DeadStore): Bulk {
  return {
    deadGroups: async (filter = {}) => store.deadGroups(filtered("deadGroups", filter)),
    deadSummary: async (filter = {}) => plain(await store.deadSummary(filterOf("deadSummary", filter))),
    redriveAll: async (letters) => {
      checkLetters(letters);
      return store.redriveAll(letters);
    },
    cancel: async (laneId, through) => store.cancel(wholeOf(laneId), wholeOf(through)),
  };
}

function hasSetAside(store: OperatorStore): store is OperatorStore & SetAsideStore {
  return "setAside" in store;
}

function setAsidesOf(store: SetAsideStore): SetAsides {
  return {
    setAside: async (page) => plain(await store.setAside(pageOf("setAside", page))),
    redriveEvent: async (number) => store.redriveEvent(wholeOf(number)),
  };
}

function canReplay(store: OperatorStore): store is OperatorStore & ReplayingStore {
  return "stageAgain" in store && "ingest" in store;
}

function showsInbox(store: OperatorStore): store is OperatorStore & InboxViewStore {
  return "inboxRows" in store;
}

function inboxViewsOf(store: InboxViewStore): InboxViews {
  return {
    inboxRows: async (filter = {}, page) => {
      const { consumer } = filtered("inboxRows", filter);
      const wanted = consumer === undefined ? filter : { ...filter, consumer: inboxName(consumer) };
      return shownPage(await store.inboxRows(wanted, pageOf("inboxRows", page)));
    },
    inboxByPrefix: async (prefix, page) => {
      checkPrefix(prefix);
      return shownPage(await store.inboxByPrefix(prefix, pageOf("inboxByPrefix", page)));
    },
    inboxRowsOf: async (tenant, source, id) => (await store.inboxRowsOf(tenant, source, id)).map(shown),
    inboxFailures: async (address) => {
      checkRows("inboxFailures", [address]);
      return store.inboxFailures(asked(address));
    },
    refusedEvents: async (filter = {}, page) =>
      store.refusedEvents(filtered("refusedEvents", filter), pageOf("refusedEvents", page)),
    consumers: () => store.consumers(),
  };
}

function shownPage({ items, next }: Paged<InboxRecord>): Paged<InboxRecord> {
  return { items: items.map(shown), next };
}

function canHold(store: OperatorStore): store is OperatorStore & HeldStore {
  return "heldEvents" in store;
}

function heldsOf(store: HeldStore): Helds {
  return {
    held: async (filter = {}, page) =>
      plain(await store.heldEvents(filtered("held", filter), pageOf("held", page))),
    heldEvent: async (tenant, eventId) => plain(await store.heldEvent(tenant, eventId)),
    release: async (tenant, eventId) => plain(await store.releaseHeld(tenant, eventId)),
  };
}

function canPause(store: OperatorStore): store is OperatorStore & PausingStore {
  return "pauseHandler" in store;
}

function canLookUp(store: OperatorStore): store is OperatorStore & LookupStore {
  return "deliveriesOf" in store;
}

function hasNames(store: LookupStore): store is LookupStore & NamingStore {
  return "namedEvents" in store;
}

function lookupsOf(store: LookupStore): Lookups {
  return {
    events: async (filter = {}, page) => {
      checkFilter("events", filter);
      const part = pageOf("events", page);
      if (filter.providerId === undefined) return store.events(filter, part);
      if (hasNames(store)) return eventsNamed(store, filter);
      // Without the names, it would be a list of every event.
      throw new PosthornError<OperatorErrorCode>(
        "operator_option_invalid",
        "providerId is given, and this store does not know the names of events; it needs the verb `namedEvents`.",
      );
    },
    event: (tenant, id) => store.event(tenant, id),
    deliveriesOf: async (tenant, eventIds) => plain(await store.deliveriesOf(tenant, eventIds)),
    delivery: async (id) => plain(await store.delivery(id)),
    lanes: async (filter = {}, page) =>
      plain(await store.lanes(filtered("lanes", filter), pageOf("lanes", page))),
    lane: async (id) => plain(await store.lane(wholeOf(id))),
    census: () => store.census(),
  };
}

function filterOf(verb: "deadLetters" | "deadSummary", wish: DeadWish): DeadFilter {
  const { upTo, ...filter } = filtered(verb, wish);
  return upTo === undefined ? filter : { ...filter, upTo: wholeOf(upTo) };
}

/** A text that is no whole number is refused: as a lane it would be none, and a typo would read as "unknown". */
function wholeOf(given: Whole | undefined): bigint {
  if (typeof given === "bigint") return given;
  const text = String(given);
  if (/^\d{1,19}$/.test(text)) return BigInt(text);
  throw new PosthornError<OperatorErrorCode>(
    "number_invalid",
    `${JSON.stringify(text.slice(0, 40))} is no lane or sequence; expected a whole number, as \`blockedLanes\` gives it.`,
  );
}

function filtered<Filter extends object>(verb: FilteringVerb, filter: Filter): Filter {
  checkFilter(verb, filter);
  return filter;
}

function pageOf(verb: string, page: Partial<Page> = {}): Page {
  checkPage(verb, page);
  const { limit = DEFAULT_LIMIT, after } = page;
  return { limit: Math.min(Math.max(1, Math.trunc(limit)), MOST), after };
}
