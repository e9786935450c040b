import { systemClock } from "../../../clock.js";
import type { Clock } from "../../../clock.js";
import type { AttemptRecord } from "../../../lanes/attempt-record.js";
import type {
  Claim,
  ClaimAnswer,
  ClaimRequest,
  SequenceReport,
  Settled,
  SettleRequest,
} from "../../../lanes/lane-store.js";
import type { Observer } from "../../../observer.js";
import type {
  DeliverySummary,
  EventFilter,
  EventSummary,
  LaneSummary,
  OutboxCensus,
  StoredEvent,
} from "../../../operator/lookup-store.js";
import type {
  BlockedLane,
  DeadLetter,
  Page,
  Paged,
  Redriven,
  Skipped,
} from "../../../operator/operator-store.js";
import type { GatewayOutbox } from "../../../operator/outbox.js";
import type { Endpoint, EndpointChange } from "../../../outbox/endpoint.js";
import type { ForgetLimits, IncomingEvent, Ingested } from "../../../outbox/ingest-store.js";
import type { Written } from "../../../outbox/outbox-store.js";
import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";
import type { StoreCapabilities } from "../../../store-capabilities.js";
import { Wake } from "../../../work/wake.js";
import { warnInProduction } from "../client/not-durable.js";
import type { Environment } from "../client/not-durable.js";
import { Claims } from "../lanes/claim.js";
import { EndpointTable } from "./endpoints.js";
import { EventLog } from "./events.js";
import { History } from "../operator/history.js";
import type { CancelledDelivery } from "../operator/history.js";
import { Lanes } from "../lanes/lanes.js";
import { Lookups } from "../operator/lookups.js";
import { IngestNames } from "./ingest-names.js";
import { Operator } from "../operator/operator.js";
import { cancelHead } from "./parts.js";
import type { OutboxParts } from "./parts.js";
import { Publications } from "./publications.js";
import { settleOne } from "../lanes/settle.js";
import type { MemoryTx } from "../client/transaction.js";

/** Where a memory outbox takes its time from, and whom it tells. */
export interface MemoryOutboxOptions {
  readonly clock?: Clock;
  readonly observer?: Observer;
  /** Warns when "production". @default NODE_ENV, where the runtime has one */
  readonly environment?: Environment;
  /** The number of the first event, at which new lanes begin: tests try large sequences. @default 1n */
  readonly firstEvent?: bigint;
}

/** An outbox in this process. */
export interface MemoryOutbox extends GatewayOutbox<MemoryTx, "asynchronous"> {
  /** Every delivery that was cancelled, oldest first. */
  cancelled(): readonly CancelledDelivery[];
}

class OutboxInMemory implements MemoryOutbox {
  readonly capabilities: StoreCapabilities = Object.freeze({
    sharesHostTransaction: true,
    survivesPowerLoss: false,
    multiProcess: false,
    clock: "process",
  });
  readonly transactions = "asynchronous";
  readonly wake: Wake = new Wake();
  readonly #parts: OutboxParts;
  readonly #publications: Publications;
  readonly #claims: Claims;
  readonly #operator: Operator;
  readonly #lookups: Lookups;
  readonly #names: IngestNames;

  constructor(clock: Clock, firstEvent: bigint) {
    const parts = {
      clock,
      endpoints: new EndpointTable(clock),
      events: new EventLog(),
      lanes: new Lanes(),
      history: new History(),
    };
    this.#parts = parts;
    this.#publications = new Publications(parts, firstEvent);
    this.#claims = new Claims(parts);
    this.#operator = new Operator(parts);
    this.#lookups = new Lookups(parts);
    this.#names = new IngestNames(clock);
  }

  // oxlint-disable-next-line require-await -- a transaction that has ended makes it reject, not throw
  async write(events: readonly OutgoingEvent[], tx: MemoryTx): Promise<readonly Written[]> {
    return this.#publications.write(events, tx);
  }

  append(events: readonly OutgoingEvent[]): Promise<readonly Written[]> {
    const written = this.#publications.append(events);
    this.wake.ring("committed");
    return Promise.resolve(written);
  }

  ingest(incoming: IncomingEvent): Promise<Ingested> {
    const ingested = this.#names.add(incoming);
    if (ingested.kind === "stored") {
      this.#publications.store(incoming.event);
      this.wake.ring("committed");
    }
    return Promise.resolve(ingested);
  }

  forgetNames({ maxNames }: ForgetLimits): Promise<number> {
    return Promise.resolve(this.#names.forget(maxNames));
  }

  addEndpoint(endpoint: Endpoint): Promise<boolean> {
    this.#publications.placeDue();
    if (this.#parts.endpoints.get(endpoint.id) !== undefined) return Promise.resolve(false);
    this.#parts.endpoints.put(endpoint);
    return Promise.resolve(true);
  }

  changeEndpoint(id: string, change: EndpointChange): Promise<Endpoint | undefined> {
    this.#publications.placeDue();
    const changed = this.#parts.endpoints.change(id, change);
    this.wake.ring("committed");
    return Promise.resolve(changed && structuredClone(changed));
  }

  removeEndpoint(id: string): Promise<boolean> {
    this.#publications.placeDue();
    const { clock, endpoints, history, lanes } = this.#parts;
    const at = new Date(clock.now());
    for (const lane of lanes.remove(id)) {
      // What is dead has had its end.
      const waiting = [...lane].filter(({ sequence }) => lane.state === "flowing" || sequence !== lane.head);
      for (const delivery of waiting) {
        history.addCancelled(lane, delivery, { because: "endpoint_removed", at });
      }
    }
    return Promise.resolve(endpoints.remove(id));
  }

  readEndpoints(ids: readonly string[]): Promise<readonly Endpoint[]> {
    const wanted = new Set(ids);
    const found = this.#parts.endpoints.sorted().filter(({ id }) => wanted.has(id));
    return Promise.resolve(structuredClone(found));
  }

  listEndpoints(page: Parameters<MemoryOutbox["listEndpoints"]>[0]): Promise<readonly Endpoint[]> {
    const { tenant, after = "", limit } = page;
    const listed = this.#parts.endpoints
      .sorted()
      .filter((endpoint) => endpoint.id > after && (tenant === undefined || endpoint.tenant === tenant));
    return Promise.resolve(structuredClone(listed.slice(0, limit)));
  }

  sequence(): Promise<SequenceReport> {
    return Promise.resolve({ events: this.#publications.placeDue(), more: false });
  }

  claim(request: ClaimRequest): Promise<ClaimAnswer> {
    return Promise.resolve(this.#claims.claim(request));
  }

  settle(request: SettleRequest): Promise<readonly Settled[]> {
    const { settlements } = request;
    return Promise.resolve(settlements.map((each) => settleOne(this.#parts, this.#claims, each, request)));
  }

  release(worker: string, held: readonly Pick<Claim, "kind" | "id">[]): Promise<number> {
    const isHeld = ({ kind, id }: Pick<Claim, "kind" | "id">): boolean =>
      held.some((each) => each.kind === kind && each.id === id);
    const lost = this.#parts.lanes.waiting().filter((lane) => lane.lease?.worker === worker && !isHeld(lane));
    for (const lane of lost) {
      // Fenced: what this worker did with it and could not tell in time must not be told now.
      lane.epoch += 1n;
      // Nobody has it under way any more that could still succeed.
      if (lane.skipIntended) cancelHead(this.#parts, lane, "skipped");
      lane.rest(this.#parts.clock.monotonic());
    }
    return Promise.resolve(lost.length);
  }

  untilDue(): Promise<number | undefined> {
    const { clock, endpoints, lanes } = this.#parts;
    const now = clock.monotonic();
    const waits = lanes
      .waiting()
      .filter(({ endpointId }) => endpoints.isActive(endpointId))
      .flatMap(({ readyAt }) => (readyAt === undefined ? [] : [readyAt - now]));
    const later = this.#publications.untilNextMs();
    const all = later === undefined ? waits : [...waits, later];
    // Rounded up: whoever sleeps that long must not wake a moment too early.
    return Promise.resolve(all.length === 0 ? undefined : Math.ceil(Math.max(0, all.reduce(least))));
  }

  blockedLanes(page: Page): Promise<Paged<BlockedLane>> {
    return Promise.resolve(this.#operator.blockedLanes(page));
  }

  deadLetters(page: Page): Promise<Paged<DeadLetter>> {
    return Promise.resolve(this.#operator.deadLetters(page));
  }

  redrive(deliveryId: string): Promise<Redriven> {
    const redriven = this.#operator.redrive(deliveryId);
    this.wake.ring("committed");
    return Promise.resolve(redriven);
  }

  skip(laneId: bigint, head: bigint): Promise<Skipped> {
    const skipped = this.#operator.skip(laneId, head);
    this.wake.ring("committed");
    return Promise.resolve(skipped);
  }

  attempts(deliveryId: string): Promise<readonly AttemptRecord[]> {
    return Promise.resolve(this.#parts.history.attempts(deliveryId));
  }

  events(filter: EventFilter, page: Page): Promise<Paged<EventSummary>> {
    return Promise.resolve(this.#lookups.events(filter, page));
  }

  event(tenant: string, id: string): Promise<StoredEvent | undefined> {
    return Promise.resolve(this.#lookups.event(tenant, id));
  }

  deliveriesOf(tenant: string, eventIds: readonly string[]): Promise<readonly DeliverySummary[]> {
    return Promise.resolve(this.#lookups.deliveriesOf(tenant, eventIds));
  }

  delivery(id: string): Promise<DeliverySummary | undefined> {
    return Promise.resolve(this.#lookups.delivery(id));
  }

  lanes(filter: { readonly endpointId?: string | undefined }, page: Page): Promise<Paged<LaneSummary>> {
    return Promise.resolve(this.#lookups.lanes(filter, page));
  }

  lane(id: bigint): Promise<LaneSummary | undefined> {
    return Promise.resolve(this.#lookups.lane(id));
  }

  census(): Promise<OutboxCensus> {
    return Promise.resolve(this.#lookups.census(this.#publications.waiting));
  }

  cancelled(): readonly CancelledDelivery[] {
    return this.#parts.history.cancelled();
  }
}

function least(one: number, other: number): number {
  return Math.min(one, other);
}

/**
 * Makes an outbox in memory: for tests and development, and the shortest reading of what an outbox promises. Its
 * transactions are those of `memoryStore`, so that a handler's publications commit with its event.
 *
 * @example
 * const outbox = memoryOutbox();
 */
export function memoryOutbox(options: MemoryOutboxOptions = {}): MemoryOutbox {
  const { clock = systemClock, observer, environment, firstEvent = 1n } = options;
  warnInProduction({ store: "memoryOutbox", environment, observer });
  return new OutboxInMemory(clock, firstEvent);
}
