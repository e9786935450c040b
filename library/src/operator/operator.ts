import { PosthornError } from "../posthorn-error.js";
import type { Observer } from "../observer.js";
import type { DeadFilter } from "./dead-filter.js";
import type { DeadStore } from "./dead-store.js";
import type { LookupStore } from "./lookup-store.js";
import type { InboxRecord, InboxViewStore } from "./inbox-view-store.js";
import { checkInboxFilter } from "./check-asked.js";
import { asked, inboxName, shown } from "../consumer-name.js";
import { consumersOf } from "./consumers.js";
import type { PausingStore } from "./consumers.js";
import { telling } from "./deeds.js";
import type { HeldStore } from "./held-store.js";
import type { OperatorErrorCode } from "./operator-errors.js";
import { replaysOf } from "./replays.js";
import type { ReplayingStore } from "./replays.js";
import { eventsNamed } from "./provider-id.js";
import type { NamingStore } from "./provider-id.js";
import { plain } from "./plain.js";
import type { OperatorStore, Page, Paged } from "./operator-store.js";
import type { SetAsideStore } from "./set-aside-store.js";
import type {
  Bulk,
  DeadWish,
  Helds,
  InboxViews,
  Lookups,
  Operator,
  SetAsides,
  Verbs,
  Whole,
} from "./verbs.js";

/** What an operator is made of. */
export interface OperatorOptions<Store extends OperatorStore = OperatorStore> {
  readonly store: Store;
  /** Hears `operator_acted` after each deed: write it down where who and why are looked for later. */
  readonly observer?: Observer | undefined;
  /** Who acts, where a verb does not say. @default "operator" */
  readonly by?: string | undefined;
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
export function createOperator(
  options: OperatorOptions<
    OperatorStore &
      LookupStore &
      DeadStore &
      SetAsideStore &
      InboxViewStore &
      HeldStore &
      PausingStore &
      ReplayingStore
  >,
): Verbs;
export function createOperator(
  options: OperatorOptions<OperatorStore & LookupStore & DeadStore & SetAsideStore>,
): Operator & Lookups & Bulk & SetAsides;
export function createOperator(
  options: OperatorOptions<OperatorStore & LookupStore & DeadStore>,
): Operator & Lookups & Bulk;
export function createOperator(options: OperatorOptions<OperatorStore & LookupStore>): Operator & Lookups;
export function createOperator(options: OperatorOptions): Operator;
export function createOperator({ store, observer, by = "operator" }: OperatorOptions): Operator {
  const verbs: Operator = {
    blockedLanes: async (page) => plain(await store.blockedLanes(pageOf(page))),
    deadLetters: async (page, filter) =>
      plain(await store.deadLetters(pageOf(page), filter && filterOf(filter))),
    attempts: async (deliveryId) => plain(await store.attempts(deliveryId)),
    redrive: (deliveryId) => store.redrive(deliveryId),
    skip: async (laneId, head) => store.skip(wholeOf(laneId), wholeOf(head)),
    raiseGenerations: () => store.raiseGenerations(),
    retry: async (what) => store.retry("laneId" in what ? { laneId: wholeOf(what.laneId) } : what),
  };
  const all = {
    ...verbs,
    ...(canLookUp(store) && lookupsOf(store)),
    ...(hasBulk(store) && bulkOf(store)),
    ...(hasSetAside(store) && setAsidesOf(store)),
    ...(showsInbox(store) && inboxViewsOf(store)),
    ...(canHold(store) && heldsOf(store)),
    ...(canPause(store) && consumersOf(store, by)),
    ...(canReplay(store) && replaysOf(store)),
  };
  return telling(all, { observer, by });
}

function hasBulk(store: OperatorStore): store is OperatorStore & DeadStore {
  return "deadSummary" in store;
}

function bulkOf(store: DeadStore): Bulk {
  return {
    deadGroups: (filter = {}) => store.deadGroups(filter),
    deadSummary: async (filter = {}) => plain(await store.deadSummary(filterOf(filter))),
    redriveAll: (letters) => store.redriveAll(letters),
    cancel: async (laneId, through) => store.cancel(wholeOf(laneId), wholeOf(through)),
  };
}

function hasSetAside(store: OperatorStore): store is OperatorStore & SetAsideStore {
  return "setAside" in store;
}

function setAsidesOf(store: SetAsideStore): SetAsides {
  return {
    setAside: async (page) => plain(await store.setAside(pageOf(page))),
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
      checkInboxFilter(filter);
      const { consumer } = filter;
      const wanted = consumer === undefined ? filter : { ...filter, consumer: inboxName(consumer) };
      return shownPage(await store.inboxRows(wanted, pageOf(page)));
    },
    inboxByPrefix: async (prefix, page) => shownPage(await store.inboxByPrefix(prefix, pageOf(page))),
    inboxRowsOf: async (tenant, source, id) => (await store.inboxRowsOf(tenant, source, id)).map(shown),
    inboxFailures: (address) => store.inboxFailures(asked(address)),
    refusedEvents: (filter = {}, page) => store.refusedEvents(filter, pageOf(page)),
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
    held: async (filter = {}, page) => plain(await store.heldEvents(filter, pageOf(page))),
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
      if (filter.providerId === undefined) return store.events(filter, pageOf(page));
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
    lanes: async (filter = {}, page) => plain(await store.lanes(filter, pageOf(page))),
    lane: async (id) => plain(await store.lane(wholeOf(id))),
    census: () => store.census(),
  };
}

function filterOf({ upTo, ...filter }: DeadWish): DeadFilter {
  return upTo === undefined ? filter : { ...filter, upTo: wholeOf(upTo) };
}

/** A text that is no whole number is refused: as a lane it would be none, and a typo would read as "unknown". */
function wholeOf(given: Whole): bigint {
  if (typeof given === "bigint") return given;
  if (/^\d{1,19}$/.test(given)) return BigInt(given);
  throw new PosthornError<OperatorErrorCode>(
    "number_invalid",
    `${JSON.stringify(given.slice(0, 40))} is no lane or sequence; expected a whole number, as \`blockedLanes\` gives it.`,
  );
}

function pageOf({ limit = DEFAULT_LIMIT, after }: Partial<Page> = {}): Page {
  return { limit: Math.min(Math.max(1, Math.trunc(limit)), MOST), after };
}
