import { reach } from "#faults";
import type { AttemptRecord } from "../../../lanes/attempt-record.js";
import type { DeliveryPlace } from "../../../lanes/delivery-id.js";
import { parseDeliveryId } from "../../../lanes/delivery-id.js";
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
  BlockedLane,
  DeadLetter,
  Page,
  Paged,
  Redriven,
  Skipped,
} from "../../../operator/operator-store.js";
import type { GatewayOutbox } from "../../../operator/outbox.js";
import type {
  DeliverySummary,
  EventFilter,
  EventSummary,
  LaneSummary,
  OutboxCensus,
  StoredEvent,
} from "../../../operator/lookup-store.js";
import type { Endpoint, EndpointChange } from "../../../outbox/endpoint.js";
import type { ForgetLimits, IncomingEvent, Ingested } from "../../../outbox/ingest-store.js";
import type { OutboxStore, Written } from "../../../outbox/outbox-store.js";
import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";
import type { SecretSeal } from "../../../outbox/secret-seal.js";
import type { StoreCapabilities } from "../../../store-capabilities.js";
import { Wake } from "../../../work/wake.js";
import { readAttempts } from "../operator/attempts.js";
import { listBlocked } from "../operator/blocked-lanes.js";
import { readCensus } from "../operator/census.js";
import { Claimer } from "../lanes/claim.js";
import type { PostgresPool } from "../client/client.js";
import { clientKind } from "../client/client.js";
import { listDead } from "../operator/dead-letters.js";
import { deliveriesOfEvents, readDelivery } from "../operator/deliveries.js";
import { Removals } from "./remove-endpoint.js";
import { EndpointSecrets } from "../../../outbox/endpoint-secrets.js";
import { listEvents, readEvent } from "../operator/events.js";
import { forgetOldNames } from "./forget-names.js";
import { hostSession } from "../client/host-session.js";
import { IngestWriter } from "./ingest-write.js";
import { Ingester } from "./ingest.js";
import { KnownLeases } from "../lanes/known-leases.js";
import { listLanes, readLane } from "../operator/lanes.js";
import { MIGRATE_CURE } from "../schema/migrate.js";
import { checkedMs, DEFAULT_SCHEMA, quotedName } from "../client/identifiers.js";
import { Appender } from "./append.js";
import { Endpoints } from "./endpoints.js";
import { KeyedWriter } from "./keyed-write.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import { outboxTablesIn } from "../schema/outbox-tables.js";
import { EventWriter } from "./write.js";
import { OwnTransactions } from "../client/own-transaction.js";
import { poolOf } from "../client/pool.js";
import { redriveDead } from "../operator/redrive.js";
import { releaseLeases } from "../lanes/release.js";
import { Sequencer } from "../lanes/sequence.js";
import { Settler } from "../lanes/settle.js";
import { skipHead } from "../operator/skip.js";
import { isTransient, sqlState, storeError, transactionAborted } from "../client/failure.js";
import { readUntilDue } from "../lanes/until-due.js";

export interface PostgresOutboxOptions<Tx> {
  /** A Pool of `pg`, or the `sql` of `postgres`. Events are published in its transactions. */
  readonly client: PostgresPool<Tx>;
  /** Where `migrate` made the tables. @default "posthorn" */
  readonly schema?: string;
  /** False for poolers that cannot keep prepared statements. @default true */
  readonly prepare?: boolean;
  /** How long a connection is waited for, before `store_unavailable` is thrown. @default 5,000 */
  readonly acquireMs?: number;
  /**
   * Closes the secrets of endpoints in the database. Those that stand there without a seal are still read. An endpoint
   * whose secrets cannot be opened reads as disabled and is told to the observer; its events wait, and other processes
   * that can open them go on.
   */
  readonly seal?: SecretSeal;
  readonly observer?: Observer;
}

/**
 * Keeps the outbox in Postgres: events are published in the host's own transactions, and delivered by any number of
 * processes.
 *
 * @example
 * await migrate(pool);
 * const outbox = postgresOutbox({ client: pool });
 */
export function postgresOutbox<Tx>(options: PostgresOutboxOptions<Tx>): GatewayOutbox<Tx, "asynchronous"> {
  const { client, schema = DEFAULT_SCHEMA, prepare = true, acquireMs = 5000, seal, observer } = options;
  const pool = poolOf<Tx>(clientKind(client), prepare);
  return new PostgresOutbox({
    transactions: new OwnTransactions(pool, checkedMs("acquireMs", acquireMs)),
    tables: outboxTablesIn(quotedName("schema", schema)),
    prepare,
    seal,
    observer,
  });
}

interface Parts {
  readonly transactions: OwnTransactions;
  readonly tables: OutboxTables;
  readonly prepare: boolean;
  readonly seal: SecretSeal | undefined;
  readonly observer: Observer | undefined;
}

const CAPABILITIES: StoreCapabilities = Object.freeze({
  sharesHostTransaction: true,
  survivesPowerLoss: true,
  multiProcess: true,
  clock: "store",
});

const LAST_NUMBER = 2n ** 63n - 1n;

/** Undefined where the text is no delivery's id, or has a number that no row can have, of which Postgres would refuse the statement. */
function placeOf(deliveryId: string): DeliveryPlace | undefined {
  const place = parseDeliveryId(deliveryId);
  const numbers = place?.kind === "lane" ? [place.lane, place.sequence] : [place?.id ?? 0n];
  return numbers.some((number) => number > LAST_NUMBER) ? undefined : place;
}

class PostgresOutbox<Tx> implements GatewayOutbox<Tx, "asynchronous"> {
  readonly capabilities: StoreCapabilities = CAPABILITIES;
  readonly transactions = "asynchronous";
  readonly wake: Wake = new Wake();
  readonly #parts: Parts;
  readonly #events: EventWriter;
  readonly #keyed: KeyedWriter;
  readonly #appender: Appender;
  readonly #ingester: Ingester;
  readonly #sequencer: Sequencer;
  readonly #endpoints: Endpoints;
  readonly #secrets: EndpointSecrets;
  readonly #leases = new KnownLeases();
  readonly #claimer: Claimer;
  readonly #settler: Settler;

  constructor(parts: Parts) {
    const { transactions, tables, seal, observer } = parts;
    this.#parts = parts;
    this.#events = new EventWriter(tables);
    this.#keyed = new KeyedWriter(tables);
    const committed = (): void => this.wake.ring("committed");
    this.#appender = new Appender({ transactions, events: this.#events, keyed: this.#keyed, committed });
    this.#ingester = new Ingester({ transactions, writer: new IngestWriter(tables), committed });
    const removals = new Removals(transactions, tables);
    this.#secrets = new EndpointSecrets(seal, observer);
    this.#sequencer = new Sequencer({ transactions, tables, removals, observer });
    const own = { transactions, tables, secrets: this.#secrets, leases: this.#leases };
    this.#endpoints = new Endpoints({ ...own, sequencer: this.#sequencer, removals });
    this.#claimer = new Claimer({ ...own, observer });
    this.#settler = new Settler(own);
  }

  async write(events: readonly OutgoingEvent[], tx: Tx): Promise<readonly Written[]> {
    try {
      const session = await hostSession(tx, this.#parts.prepare);
      reach("publish.before_write");
      const written = events.some(({ idGiven }) => idGiven)
        ? ((await this.#keyed.write(session, [events]))[0] ?? [])
        : await this.#events.write(session, events).then(() => events.map((): Written => "written"));
      reach("publish.after_write");
      return written;
    } catch (error) {
      if (sqlState(error) === "25P02") throw transactionAborted(undefined);
      // As the driver threw it: the host's own loop repeats its transaction on these codes.
      if (isTransient(error)) throw error;
      throw storeError(error, MIGRATE_CURE);
    }
  }

  append(events: readonly OutgoingEvent[]): Promise<readonly Written[]> {
    return this.#appender.append(events);
  }

  ingest(incoming: IncomingEvent): Promise<Ingested> {
    return this.#ingester.ingest(incoming);
  }

  forgetNames(limits: ForgetLimits): Promise<number> {
    return forgetOldNames(this.#parts.transactions, limits, this.#parts.tables);
  }

  addEndpoint(endpoint: Endpoint): Promise<boolean> {
    return this.#endpoints.add(endpoint);
  }

  changeEndpoint(id: string, change: EndpointChange): Promise<Endpoint | undefined> {
    return this.#endpoints.change(id, change);
  }

  removeEndpoint(id: string): Promise<boolean> {
    return this.#endpoints.remove(id);
  }

  readEndpoints(ids: readonly string[]): Promise<readonly Endpoint[]> {
    return this.#endpoints.read(ids);
  }

  listEndpoints(page: Parameters<OutboxStore<Tx>["listEndpoints"]>[0]): Promise<readonly Endpoint[]> {
    return this.#endpoints.list(page);
  }

  sequence(): Promise<SequenceReport> {
    return this.#sequencer.sequence();
  }

  claim(request: ClaimRequest): Promise<ClaimAnswer> {
    return this.#claimer.claim(request);
  }

  settle(request: SettleRequest): Promise<readonly Settled[]> {
    return this.#settler.settle(request);
  }

  release(worker: string, held: readonly Pick<Claim, "kind" | "id">[]): Promise<number> {
    return releaseLeases({ ...this.#parts, leases: this.#leases }, worker, held);
  }

  untilDue(): Promise<number | undefined> {
    return readUntilDue(this.#parts.transactions, this.#secrets.unopened, this.#parts.tables);
  }

  blockedLanes(page: Page): Promise<Paged<BlockedLane>> {
    return listBlocked(this.#parts.transactions, page, this.#parts.tables);
  }

  deadLetters(page: Page): Promise<Paged<DeadLetter>> {
    return listDead(this.#parts.transactions, page, this.#parts.tables);
  }

  async redrive(deliveryId: string): Promise<Redriven> {
    const place = placeOf(deliveryId);
    if (place === undefined) return "unknown";
    const redriven = await redriveDead(this.#parts.transactions, place, this.#parts.tables);
    if (redriven !== "unknown") this.wake.ring("committed");
    return redriven;
  }

  async skip(laneId: bigint, head: bigint): Promise<Skipped> {
    if (laneId > LAST_NUMBER) return "unknown";
    const skipped = await skipHead(this.#parts.transactions, { laneId, head }, this.#parts.tables);
    if (skipped === "skipped") this.wake.ring("committed");
    return skipped;
  }

  async attempts(deliveryId: string): Promise<readonly AttemptRecord[]> {
    const place = placeOf(deliveryId);
    return place === undefined ? [] : readAttempts(this.#parts.transactions, place, this.#parts.tables);
  }
  events(filter: EventFilter, page: Page): Promise<Paged<EventSummary>> {
    return listEvents(this.#parts.transactions, { filter, page }, this.#parts.tables);
  }

  event(tenant: string, id: string): Promise<StoredEvent | undefined> {
    return readEvent(this.#parts.transactions, { tenant, id }, this.#parts.tables);
  }

  deliveriesOf(tenant: string, eventIds: readonly string[]): Promise<readonly DeliverySummary[]> {
    return deliveriesOfEvents(this.#parts.transactions, { tenant, eventIds }, this.#parts.tables);
  }

  async delivery(id: string): Promise<DeliverySummary | undefined> {
    const place = placeOf(id);
    return place && readDelivery(this.#parts.transactions, place, this.#parts.tables);
  }

  lanes(filter: { readonly endpointId?: string | undefined }, page: Page): Promise<Paged<LaneSummary>> {
    return listLanes(this.#parts.transactions, { ...filter, ...page }, this.#parts.tables);
  }

  lane(id: bigint): Promise<LaneSummary | undefined> {
    if (id > LAST_NUMBER) return Promise.resolve(undefined);
    return readLane(this.#parts.transactions, id, this.#parts.tables);
  }

  census(): Promise<OutboxCensus> {
    return readCensus(this.#parts.transactions, this.#parts.tables);
  }
}
