import { reach } from "#faults";
import { systemClock } from "../../../clock.js";
import type { Clock } from "../../../clock.js";
import type { AttemptRecord } from "../../../lanes/attempt-record.js";
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
import { EndpointSecrets } from "../../../outbox/endpoint-secrets.js";
import type { ForgetLimits, IncomingEvent, Ingested } from "../../../outbox/ingest-store.js";
import type { OutgoingEvent } from "../../../outbox/outgoing-event.js";
import type { Written } from "../../../outbox/outbox-store.js";
import type { SecretSeal } from "../../../outbox/secret-seal.js";
import type { StoreCapabilities } from "../../../store-capabilities.js";
import { Wake } from "../../../work/wake.js";
import { readAttempts } from "../operator/attempts.js";
import { claimDue, isAnyDue } from "../lanes/claim.js";
import type { Cursor } from "../lanes/claim.js";
import { takeCensus } from "../operator/census.js";
import type { SqliteDatabase } from "../client/client.js";
import { connectionOf } from "../client/connection.js";
import { deadLetters } from "../operator/dead-letters.js";
import { deliveriesOf, findDelivery } from "../operator/deliveries.js";
import { lostPromises } from "../client/durability.js";
import type { Durability, Settings } from "../client/durability.js";
import { findEvents, readEvent } from "../operator/events.js";
import { storeError } from "../client/failure.js";
import { HostHandles } from "../client/host-handle.js";
import { forgetNames, ingestEvent, isAnyForgettable } from "./ingest.js";
import { findLane, findLanes } from "../operator/lanes.js";
import { blockedLanes } from "../operator/blocked-lanes.js";
import { checkDurability, checkWaitMs, DEFAULT_WAIT_MS } from "../client/options.js";
import { addEndpoint, changeEndpoint, listEndpoints, readEndpoints, removeEndpoint } from "./endpoints.js";
import { OutboxSession } from "./session.js";
import type { OutboxTurn } from "./turn.js";
import { writeEvents } from "./write.js";
import { redriveDead } from "../operator/redrive.js";
import { releaseLeases } from "../lanes/release.js";
import { isAnyToSequence, isAnyUnplaced, sequenceDue } from "../lanes/sequence.js";
import { settleClaims } from "../lanes/settle.js";
import { skipHead } from "../operator/skip.js";
import { untilDue } from "../lanes/until-due.js";

/** What an outbox in SQLite is made of. */
export interface SqliteOutboxOptions<Db extends SqliteDatabase> {
  /** An open handle of better-sqlite3 or node:sqlite. */
  readonly db: Db;
  /** How long a call may wait for the write lock. @default 5,000 */
  readonly waitMs?: number;
  /** @default "set" */
  readonly durability?: Durability;
  /** Closes the secrets of endpoints before they are written. @default they are written as they are */
  readonly seal?: SecretSeal;
  readonly clock?: Clock;
  readonly observer?: Observer;
}

const NAME = "sqliteOutbox";
// Of what one turn does at once, so that it leaves the event loop free after a few milliseconds.
const SETTLEMENTS_PER_TURN = 50;
const CLAIMS_PER_TURN = 64;
const NAMES_PER_TURN = 500;

class SqliteOutbox<Db extends SqliteDatabase> implements GatewayOutbox<Db, "synchronous"> {
  readonly transactions = "synchronous";
  readonly capabilities: StoreCapabilities;
  readonly wake: Wake = new Wake();
  readonly #session: OutboxSession;
  readonly #cursor: Cursor = { endpoint: 0n };
  readonly #handles: HostHandles;

  constructor(session: OutboxSession, handles: HostHandles, settings: Settings) {
    this.#session = session;
    this.#handles = handles;
    this.capabilities = Object.freeze({
      sharesHostTransaction: true,
      survivesPowerLoss: lostPromises(settings).length === 0,
      multiProcess: settings.file,
      clock: "process",
    });
  }

  write(events: readonly OutgoingEvent[], tx: Db): readonly Written[] {
    try {
      const client = this.#handles.inTransaction(tx);
      reach("publish.before_write");
      const written = writeEvents(this.#session.hostTurn(client), events);
      reach("publish.after_write");
      return written;
    } catch (error) {
      throw storeError(error);
    }
  }

  async append(events: readonly OutgoingEvent[]): Promise<readonly Written[]> {
    const written = await this.#session.write((turn) => {
      reach("append.before_write");
      const verdicts = writeEvents(turn, events);
      reach("append.after_write");
      return verdicts;
    });
    this.wake.ring("committed");
    return written;
  }

  ingest(incoming: IncomingEvent): Promise<Ingested> {
    return this.#session
      .writeTogether((turn) => ingestEvent(turn, incoming))
      .then((ingested) => {
        if (ingested.kind === "stored") this.wake.ring("committed");
        return ingested;
      });
  }

  async forgetNames({ maxNames }: ForgetLimits): Promise<number> {
    let forgotten = 0;
    while (forgotten < maxNames && (await this.#session.look(isAnyForgettable))) {
      const limit = Math.min(NAMES_PER_TURN, maxNames - forgotten);
      forgotten += await this.#session.write((turn) => forgetNames(turn, limit));
    }
    return forgotten;
  }

  addEndpoint(endpoint: Endpoint): Promise<boolean> {
    return this.#afterSequencing((turn) => addEndpoint(turn, endpoint));
  }

  async changeEndpoint(id: string, change: EndpointChange): Promise<Endpoint | undefined> {
    const changed = await this.#afterSequencing((turn) => changeEndpoint(turn, id, change));
    // What waited for an endpoint that was stopped may be due.
    this.wake.ring("committed");
    return changed;
  }

  async removeEndpoint(id: string): Promise<boolean> {
    const removed = await this.#afterSequencing((turn) => removeEndpoint(turn, id));
    if (removed) await this.#sequenceAll();
    return removed;
  }

  readEndpoints(ids: readonly string[]): Promise<readonly Endpoint[]> {
    return this.#session.look((turn) => readEndpoints(turn, ids));
  }

  listEndpoints(page: {
    readonly tenant?: string | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly Endpoint[]> {
    return this.#session.look((turn) => listEndpoints(turn, page));
  }

  async sequence(): Promise<SequenceReport> {
    if (!(await this.#session.look(isAnyToSequence))) return { events: 0, more: false };
    reach("sequence.before_lock");
    const report = await this.#session.write((turn) => {
      const made = sequenceDue(turn);
      reach("sequence.before_commit");
      return made;
    });
    reach("sequence.after_commit");
    return report;
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    if (!(await this.#session.lookAtDue(isAnyDue))) return { claims: [], lapsed: false };
    const first = await this.#claimSome(request, []);
    const claims = [...first.claims];
    for (let last = first; last.claims.length === CLAIMS_PER_TURN && claims.length < request.limit;) {
      try {
        last = await this.#claimSome(request, claims);
      } catch {
        // What was claimed before is leased; thrown away, nobody would send it until its lease ends.
        break;
      }
      claims.push(...last.claims);
    }
    return { claims, lapsed: first.lapsed };
  }

  #claimSome(request: ClaimRequest, claimed: readonly Claim[]): Promise<ClaimAnswer> {
    const most = request.alone ? 1 : CLAIMS_PER_TURN;
    const limit = Math.min(request.limit - claimed.length, most);
    const inFlight = new Map(request.inFlight);
    for (const { consumer: endpoint } of claimed)
      inFlight.set(endpoint.id, (inFlight.get(endpoint.id) ?? 0) + 1);
    return this.#session.write((turn) => claimDue(turn, { ...request, limit, inFlight }, this.#cursor));
  }

  async settle({ settlements, ...terms }: SettleRequest): Promise<readonly Settled[]> {
    const turns: Promise<readonly Settled[]>[] = [];
    for (let from = 0; from < settlements.length; from += SETTLEMENTS_PER_TURN) {
      const some = settlements.slice(from, from + SETTLEMENTS_PER_TURN);
      turns.push(this.#session.write((turn) => settleClaims(turn, some, terms)));
    }
    return (await Promise.all(turns)).flat();
  }

  async release(worker: string, held: readonly Pick<Claim, "kind" | "id">[]): Promise<number> {
    const released = await this.#session.write((turn) => releaseLeases(turn, worker, held));
    if (released > 0) this.wake.ring("committed");
    return released;
  }

  untilDue(): Promise<number | undefined> {
    return this.#session.lookAtDue(untilDue);
  }

  blockedLanes(page: Page): Promise<Paged<BlockedLane>> {
    return this.#session.look(({ client, nowMs }) => blockedLanes(client, { ...page, nowMs }));
  }

  deadLetters(page: Page): Promise<Paged<DeadLetter>> {
    return this.#session.look(({ client }) => deadLetters(client, page));
  }

  async redrive(deliveryId: string): Promise<Redriven> {
    const redriven = await this.#session.write((turn) => redriveDead(turn, deliveryId));
    this.wake.ring("committed");
    return redriven;
  }

  async skip(laneId: bigint, head: bigint): Promise<Skipped> {
    const skipped = await this.#session.write((turn) => skipHead(turn, laneId, head));
    this.wake.ring("committed");
    return skipped;
  }

  attempts(deliveryId: string): Promise<readonly AttemptRecord[]> {
    const place = parseDeliveryId(deliveryId);
    if (place === undefined) return Promise.resolve([]);
    const [lane, seq] = place.kind === "lane" ? [place.lane, place.sequence] : [0n, place.id];
    return this.#session.look(({ client }) => readAttempts(client, { lane, seq }));
  }

  events(filter: EventFilter, page: Page): Promise<Paged<EventSummary>> {
    return this.#session.look(({ client }) => findEvents(client, filter, page));
  }

  event(tenant: string, id: string): Promise<StoredEvent | undefined> {
    return this.#session.look(({ client }) => readEvent(client, tenant, id));
  }

  deliveriesOf(tenant: string, eventIds: readonly string[]): Promise<readonly DeliverySummary[]> {
    return this.#session.look((turn) => deliveriesOf(turn, tenant, eventIds));
  }

  delivery(id: string): Promise<DeliverySummary | undefined> {
    return this.#session.look((turn) => findDelivery(turn, id));
  }

  lanes(filter: { readonly endpointId?: string | undefined }, page: Page): Promise<Paged<LaneSummary>> {
    return this.#session.look((turn) => findLanes(turn, filter, page));
  }

  lane(id: bigint): Promise<LaneSummary | undefined> {
    return this.#session.look((turn) => findLane(turn, id));
  }

  census(): Promise<OutboxCensus> {
    return this.#session.look(takeCensus);
  }

  // What is due already was published before the change, and goes by the old patterns; another process may have
  // written more of it since the last look.
  async #afterSequencing<T>(change: (turn: OutboxTurn) => T): Promise<T> {
    for (;;) {
      await this.#sequenceAll();
      const done = await this.#session.write((turn) =>
        isAnyUnplaced(turn) ? undefined : { value: change(turn) },
      );
      if (done !== undefined) return done.value;
    }
  }

  async #sequenceAll(): Promise<void> {
    while ((await this.sequence()).more);
  }
}

/**
 * Makes an outbox in the host's own SQLite database. Call `migrate(db)` first. An event that is published inside of a
 * transaction of the host has its place in its lanes when that commits, and never was there when it rolls back.
 *
 * @example
 * await migrate(db);
 * const outbox = sqliteOutbox({ db });
 */
export function sqliteOutbox<Db extends SqliteDatabase>(
  options: SqliteOutboxOptions<Db>,
): GatewayOutbox<Db, "synchronous"> {
  const { db, waitMs = DEFAULT_WAIT_MS, durability = "set", clock = systemClock, observer, seal } = options;
  checkWaitMs(NAME, waitMs);
  checkDurability(NAME, durability);
  const connection = connectionOf(db);
  const settings = connection.durability.require(durability, { name: NAME, observer });
  const secrets = new EndpointSecrets(seal, observer);
  const session = new OutboxSession({ connection, clock, waitMs, observer, secrets });
  return new SqliteOutbox(session, new HostHandles(connection.client), settings);
}
