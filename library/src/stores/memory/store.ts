import { systemClock } from "../../clock.js";
import type { Clock } from "../../clock.js";
import type { OptionNames } from "../../known-options.js";
import type { Observer } from "../../observer.js";
import type { Store } from "../../operator/store.js";
import type { StoreCapabilities } from "../../store-capabilities.js";
import { checkStoreOptions } from "../../store-options.js";
import { warnInProduction } from "./client/not-durable.js";
import type { Environment } from "../../environment.js";
import type { MemoryTx } from "./client/transaction.js";
import { createInbox, openInbox } from "./inbox/inbox.js";
import type { MemoryInbox } from "./inbox/inbox.js";
import { NewestTable } from "./inbox/newest.js";
import type { CancelledDelivery } from "./lanes/history.js";
import { createLanes } from "./lanes/lanes.js";
import { createHeldViews, createInboxViews, createOperator, createReplays } from "./operator/operator.js";
import { createOutbox } from "./outbox/outbox.js";
import { Publications } from "./outbox/publications.js";
import { openParts } from "./parts.js";
import { createCursors } from "./repair/cursors.js";
import { createRetention } from "./retention/retention.js";

/** Where a memory store takes its time from, and whom it tells. */
export interface MemoryStoreOptions {
  readonly clock?: Clock;
  readonly observer?: Observer;
  /** Warns when "production". @default NODE_ENV, where the runtime has one */
  readonly environment?: Environment;
  /** The number of the first event, at which new lanes begin: tests try large sequences. @default 1n */
  readonly firstEvent?: bigint;
}

/** Inbox and outbox in this process. */
export interface MemoryStore extends Store<MemoryTx, "asynchronous">, MemoryInbox {
  /** Every delivery that was cancelled, oldest first. */
  cancelled(): readonly CancelledDelivery[];
}

const OPTIONS: OptionNames<MemoryStoreOptions> = {
  clock: true,
  observer: true,
  environment: true,
  firstEvent: true,
};

const CAPABILITIES: StoreCapabilities = Object.freeze({
  sharesHostTransaction: true,
  survivesPowerLoss: false,
  multiProcess: false,
  clock: "process",
});

/**
 * Makes a store in memory: for tests and development, and the shortest reading of what a store promises. Receiver,
 * sender, dispatcher and operator take the same store, so that a handler's publications commit with its event.
 *
 * @example
 * const store = memoryStore();
 * const sender = createSender({ store });
 * const receiver = createReceiver({ store, sources, handlers, publisher: sender });
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  checkStoreOptions("memoryStore", options, OPTIONS);
  const { clock = systemClock, observer, environment, firstEvent = 1n } = options;
  warnInProduction({ store: "memoryStore", environment, observer });
  const parts = openParts(clock);
  const inbox = openInbox(clock);
  const versions = new NewestTable();
  const publications = new Publications(parts, firstEvent, observer);
  const inboxVerbs = createInbox(inbox, parts.events);
  return {
    capabilities: CAPABILITIES,
    transactions: "asynchronous",
    connections: undefined,
    ...inboxVerbs,
    newest: (tx, version) => versions.newest(tx, version),
    ...createOutbox(parts, publications),
    ...createLanes(parts, publications, inbox),
    ...createOperator(parts, publications),
    ...createReplays(parts, inbox),
    ...createInboxViews(parts, inbox, () => inboxVerbs.refused()),
    ...createHeldViews(parts, publications),
    ...createRetention(parts, publications),
    ...createCursors(),
    cancelled: () => parts.history.cancelled(),
  };
}
