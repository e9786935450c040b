import { reach } from "#faults";
import { systemClock } from "../../clock.js";
import type { Clock } from "../../clock.js";
import type { AttemptRecord } from "../../delivery/attempt-record.js";
import { parseDeliveryId } from "../../delivery/delivery-id.js";
import type {
  Claim,
  ClaimAnswer,
  ClaimRequest,
  SequenceReport,
  Settled,
  SettleRequest,
} from "../../delivery/delivery-store.js";
import type { InboxErrorCode } from "../../inbox/inbox-errors.js";
import type { Observer } from "../../observer.js";
import type {
  BlockedLane,
  DeadLetter,
  Page,
  Paged,
  Redriven,
  Skipped,
} from "../../operator/operator-store.js";
import type { Outbox } from "../../operator/outbox.js";
import type { Endpoint, EndpointChange } from "../../outbox/endpoint.js";
import type { OutgoingEvent } from "../../outbox/outgoing-event.js";
import type { Written } from "../../outbox/outbox-store.js";
import { PosthornError } from "../../posthorn-error.js";
import type { StoreCapabilities } from "../../store-capabilities.js";
import { Wake } from "../../work/wake.js";
import { readAttempts } from "./attempt-rows.js";
import { claimDue, isAnyDue } from "./claim.js";
import type { Cursor } from "./claim.js";
import type { SqliteClient, SqliteDatabase } from "./client.js";
import { connectionOf } from "./connection.js";
import type { Connection } from "./connection.js";
import { deadLetters } from "./dead-letters.js";
import { lostPromises } from "./durability.js";
import type { Durability, Settings } from "./durability.js";
import { EndpointBook } from "./endpoint-book.js";
import { storeError } from "./failure.js";
import { HostHandles } from "./host-handle.js";
import { blockedLanes } from "./operator-lanes.js";
import { checkDurability, checkWaitMs, DEFAULT_WAIT_MS } from "./options.js";
import {
  addEndpoint,
  changeEndpoint,
  listEndpoints,
  readEndpoints,
  removeEndpoint,
} from "./outbox-endpoints.js";
import { OutboxTurn } from "./outbox-turn.js";
import { writeEvents } from "./outbox-write.js";
import { redriveDead } from "./redrive.js";
import { releaseLeases } from "./release.js";
import { isAnyToSequence, sequenceDue } from "./sequence.js";
import { settleClaims } from "./settle.js";
import { skipHead } from "./skip.js";
import { untilDue } from "./until-due.js";

/** What an outbox in SQLite is made of. */
export interface SqliteOutboxOptions<Db extends SqliteDatabase> {
  /** An open handle of better-sqlite3 or node:sqlite. */
  readonly db: Db;
  /** How long a call may wait for the write lock. @default 5,000 */
  readonly waitMs?: number;
  /** @default "set" */
  readonly durability?: Durability;
  readonly clock?: Clock;
  readonly observer?: Observer;
}

const NAME = "sqliteOutbox";
// Of what one turn does at once, so that it leaves the event loop free after a few milliseconds.
const SETTLEMENTS_PER_TURN = 50;
const CLAIMS_PER_TURN = 64;

type Parts = Required<Omit<SqliteOutboxOptions<SqliteDatabase>, "db" | "durability" | "observer">> & {
  readonly observer: Observer | undefined;
  readonly settings: Settings;
};

class SqliteOutbox<Db extends SqliteDatabase> implements Outbox<Db, "synchronous"> {
  readonly transactions = "synchronous";
  readonly capabilities: StoreCapabilities;
  readonly wake: Wake = new Wake();
  readonly #connection: Connection;
  readonly #parts: Parts;
  readonly #book = new EndpointBook();
  readonly #cursor: Cursor = { endpoint: 0n };
  readonly #handles: HostHandles;

  constructor(db: Db, parts: Parts) {
    this.#connection = connectionOf(db);
    this.#parts = parts;
    this.#handles = new HostHandles(this.#connection.client);
    this.capabilities = Object.freeze({
      sharesHostTransaction: true,
      survivesPowerLoss: lostPromises(parts.settings).length === 0,
      multiProcess: parts.settings.file,
      clock: "process",
    });
  }

  write(events: readonly OutgoingEvent[], tx: Db): readonly Written[] {
    try {
      const client = this.#handles.inTransaction(tx);
      reach("publish.before_write");
      const written = writeEvents(this.#turn(client), events);
      reach("publish.after_write");
      return written;
    } catch (error) {
      throw storeError(error);
    }
  }

  async append(events: readonly OutgoingEvent[]): Promise<readonly Written[]> {
    const written = await this.#write((turn) => {
      reach("append.before_write");
      const verdicts = writeEvents(turn, events);
      reach("append.after_write");
      return verdicts;
    });
    this.wake.ring("committed");
    return written;
  }

  async addEndpoint(endpoint: Endpoint): Promise<boolean> {
    await this.#sequenceAll();
    return this.#write((turn) => addEndpoint(turn, endpoint));
  }

  async changeEndpoint(id: string, change: EndpointChange): Promise<Endpoint | undefined> {
    await this.#sequenceAll();
    const changed = await this.#write((turn) => changeEndpoint(turn, id, change));
    // What waited for an endpoint that was stopped may be due.
    this.wake.ring("committed");
    return changed;
  }

  async removeEndpoint(id: string): Promise<boolean> {
    await this.#sequenceAll();
    const removed = await this.#write((turn) => removeEndpoint(turn, id));
    if (removed) await this.#sequenceAll();
    return removed;
  }

  readEndpoints(ids: readonly string[]): Promise<readonly Endpoint[]> {
    return this.#look(({ client }) => readEndpoints(client, ids));
  }

  listEndpoints(page: {
    readonly tenant?: string | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<readonly Endpoint[]> {
    return this.#look(({ client }) => listEndpoints(client, page));
  }

  async sequence(): Promise<SequenceReport> {
    if (!(await this.#look(isAnyToSequence))) return { events: 0, more: false };
    reach("sequence.before_lock");
    const report = await this.#write((turn) => {
      const made = sequenceDue(turn);
      reach("sequence.before_commit");
      return made;
    });
    reach("sequence.after_commit");
    return report;
  }

  async claim(request: ClaimRequest): Promise<ClaimAnswer> {
    if (!(await this.#look(isAnyDue))) return { claims: [], lapsed: false };
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
    for (const { endpoint } of claimed) inFlight.set(endpoint.id, (inFlight.get(endpoint.id) ?? 0) + 1);
    return this.#write((turn) => claimDue(turn, { ...request, limit, inFlight }, this.#cursor));
  }

  async settle({ settlements, ...terms }: SettleRequest): Promise<readonly Settled[]> {
    const turns: Promise<readonly Settled[]>[] = [];
    for (let from = 0; from < settlements.length; from += SETTLEMENTS_PER_TURN) {
      const some = settlements.slice(from, from + SETTLEMENTS_PER_TURN);
      turns.push(this.#write((turn) => settleClaims(turn, some, terms)));
    }
    return (await Promise.all(turns)).flat();
  }

  async release(worker: string, held: readonly Pick<Claim, "kind" | "id">[]): Promise<number> {
    const released = await this.#write((turn) => releaseLeases(turn, worker, held));
    if (released > 0) this.wake.ring("committed");
    return released;
  }

  untilDue(): Promise<number | undefined> {
    return this.#look(untilDue);
  }

  blockedLanes(page: Page): Promise<Paged<BlockedLane>> {
    return this.#look(({ client, nowMs }) => blockedLanes(client, { ...page, nowMs }));
  }

  deadLetters(page: Page): Promise<Paged<DeadLetter>> {
    return this.#look(({ client }) => deadLetters(client, page));
  }

  async redrive(deliveryId: string): Promise<Redriven> {
    const redriven = await this.#write((turn) => redriveDead(turn, deliveryId));
    this.wake.ring("committed");
    return redriven;
  }

  async skip(laneId: bigint): Promise<Skipped> {
    const skipped = await this.#write((turn) => skipHead(turn, laneId));
    this.wake.ring("committed");
    return skipped;
  }

  attempts(deliveryId: string): Promise<readonly AttemptRecord[]> {
    const place = parseDeliveryId(deliveryId);
    if (place === undefined) return Promise.resolve([]);
    const [lane, seq] = place.kind === "lane" ? [place.lane, place.sequence] : [0n, place.id];
    return this.#look(({ client }) => readAttempts(client, { lane, seq }));
  }

  // What is due already was published before the change, and goes by the old patterns.
  async #sequenceAll(): Promise<void> {
    while ((await this.sequence()).more);
  }

  #turn(client: SqliteClient): OutboxTurn {
    const { clock, observer } = this.#parts;
    return new OutboxTurn({ client, nowMs: Math.floor(clock.now()), book: this.#book, observer });
  }

  // Whoever looks from inside of a group would see its neighbours' rows before they are committed; a microtask later they are.
  async #look<T>(look: (turn: OutboxTurn) => T): Promise<T> {
    await Promise.resolve();
    try {
      return look(this.#turn(this.#connection.client));
    } catch (error) {
      throw storeError(error);
    }
  }

  async #write<T>(run: (turn: OutboxTurn) => T): Promise<T> {
    const { waitMs } = this.#parts;
    const { client, statements } = this.#connection;
    const expired = (): never => {
      throw new PosthornError<InboxErrorCode>(
        "store_unavailable",
        `Another connection held the write lock, or the host a transaction, for ${waitMs} ms. Retry.`,
      );
    };
    try {
      return await statements.join({ run: () => run(this.#turn(client)), undoable: true, waitMs, expired });
    } catch (error) {
      throw storeError(error);
    }
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
): Outbox<Db, "synchronous"> {
  const { db, waitMs = DEFAULT_WAIT_MS, durability = "set", clock = systemClock, observer } = options;
  checkWaitMs(NAME, waitMs);
  checkDurability(NAME, durability);
  const settings = connectionOf(db).durability.require(durability, { name: NAME, observer });
  return new SqliteOutbox(db, { waitMs, clock, observer, settings });
}
