import { PosthornError } from "../posthorn-error.js";
import type { Observer } from "../observer.js";
import type { DeadFilter } from "./dead-filter.js";
import type { DeadStore } from "./dead-store.js";
import type { LookupStore } from "./lookup-store.js";
import type { InboxRecord, InboxViewStore } from "./inbox-view-store.js";
import { checkNames, checkRows } from "./check-asked.js";
import { asked, inboxName, shown } from "../consumer-name.js";
import { consumersOf } from "./consumers.js";
import type { PausingStore } from "./consumers.js";
import { telling } from "./deeds.js";
import type { HeldStore } from "./held-store.js";
import { checkStore } from "../given-store.js";
import type { OptionNames } from "../known-options.js";
import { checkFilter, checkLetters, checkPage, checkPrefix, checkRetry } from "./known-names.js";
import type { FilteringVerb } from "./known-names.js";
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

const OPTIONS: OptionNames<OperatorOptions> = { store: true, observer: true, by: true };

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
export function createOperator(options: OperatorOptions): Operator {
  checkNames("createOperator", options, OPTIONS);
  const { store, observer, by = "operator" } = options;
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
