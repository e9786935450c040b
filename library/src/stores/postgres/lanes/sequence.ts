import { reach } from "#faults";
import type { SequenceReport } from "../../../lanes/lane-store.js";
import { FanOut, placeIn } from "../../../outbox/fan-out.js";
import type { Observer } from "../../../observer.js";
import { notify } from "../../../observer.js";
import { isPosthornError } from "../../../posthorn-error.js";
import { numberArray } from "../client/column-arrays.js";
import type { Session, Statement } from "../client/database.js";
import type { Removals } from "../outbox/remove-endpoint.js";
import type { StoredEndpoint } from "../outbox/endpoint-row.js";
import { ENDPOINT_COLUMNS, storedEndpointOf } from "../outbox/endpoint-row.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import type { OwnTransactions } from "../client/own-transaction.js";
import type { NumberedPlace } from "./places.js";
import { KnownLanes, makePlaces } from "./places.js";
import { sqlState } from "../client/failure.js";
import type { Locked, Staged } from "./stage.js";
import { lockedOf, Stage, Unplaceable } from "./stage.js";

const MAX_EVENTS = 1000;
const MAX_DELIVERIES = 5000;

/** More deliveries than one transaction should write; nothing was done. */
class TooMany extends Error {
  readonly deliveries: number;

  constructor(deliveries: number) {
    super(`${deliveries} deliveries are more than one transaction should write`);
    this.deliveries = deliveries;
  }
}

interface Directory {
  readonly version: string;
  readonly fanOut: FanOut;
  readonly byNumber: ReadonlyMap<bigint, StoredEndpoint>;
  readonly numbers: ReadonlyMap<string, bigint>;
}

interface Batch {
  readonly events: number;
  readonly lanes: ReadonlyMap<string, bigint>;
  /** Its last statement, which is still to be run. */
  readonly insert?: Statement;
  /** True when the stage may have more. */
  readonly full: boolean;
}

interface Drained<T> {
  readonly batch: Batch;
  readonly done?: { readonly value: T };
}

/** What failed was not the sequencing, but what was to be done after it. */
class ChangeFailed extends Error {}

async function ofChange<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new ChangeFailed(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

interface SequencerParts {
  readonly transactions: OwnTransactions;
  readonly tables: OutboxTables;
  readonly removals: Removals;
  readonly observer: Observer | undefined;
}

const NOTHING: Batch = { events: 0, lanes: new Map(), full: false };

/** Gives committed events their places. One process at a time does it for the whole outbox. */
export class Sequencer {
  readonly #transactions: OwnTransactions;
  readonly #tables: OutboxTables;
  readonly #stage: Stage;
  readonly #removals: Removals;
  readonly #observer: Observer | undefined;
  readonly #lanes = new KnownLanes();
  #directory: Directory | undefined;
  // How many events a batch takes: less after one that failed, or had too many endpoints.
  #limit = MAX_EVENTS;
  #busy = false;

  constructor({ transactions, tables, removals, observer }: SequencerParts) {
    this.#transactions = transactions;
    this.#tables = tables;
    this.#stage = new Stage(tables);
    this.#removals = removals;
    this.#observer = observer;
  }

  async sequence(): Promise<SequenceReport> {
    // Asked first, because an idle process asks often, and one statement costs it less than a transaction.
    if (!this.#busy && !(await this.#stage.isWaiting(this.#reader()))) return { events: 0, more: false };
    const known = this.#directory;
    const { events, full } = await this.#some();
    this.#busy = events > 0;
    // Whoever removed one of them may have died before its end.
    if (this.#directory !== known) await this.#removals.finish();
    return { events, more: full };
  }

  /** Sequences all that is committed, and runs `work` before anybody sequences more: what was published before a change of endpoints goes where it went before. */
  async drained<T>(work: (session: Session) => Promise<T>): Promise<T> {
    for (;;) {
      const limit = this.#limit;
      const drain = (): Promise<Drained<T>> =>
        this.#transactions.run(async (session) => {
          const batch = await this.#batch(session, limit, await this.#stage.lock(session));
          if (batch.insert) await session.query(batch.insert);
          return batch.full ? { batch } : { batch, done: { value: await ofChange(work(session)) } };
        });
      const drained = await this.#attempt(limit, drain);
      if (drained?.done) return drained.done.value;
    }
  }

  #reader(): Session {
    return { query: (statement) => this.#transactions.read(statement) };
  }

  async #some(): Promise<Batch> {
    for (;;) {
      const limit = this.#limit;
      const once = (): Promise<Drained<never>> =>
        this.#transactions.runFrom(this.#stage.tryLock(), async (scope, answer) => {
          const locked = lockedOf(answer);
          if (!locked.got) return { batch: { ...NOTHING, full: true } };
          const batch = await this.#batch(scope, limit, locked);
          if (batch.insert) scope.closing = batch.insert;
          return { batch };
        });
      reach("sequence.before_lock");
      const some = await this.#attempt(limit, once);
      reach("sequence.after_commit");
      if (some) return some.batch;
    }
  }

  /** Undefined when a batch failed for what is in it: then less is to be tried, down to the one that cannot be sequenced, which is set aside. */
  async #attempt<T>(limit: number, once: () => Promise<Drained<T>>): Promise<Drained<T> | undefined> {
    try {
      const drained = await once();
      this.#lanes.learn(drained.batch.lanes);
      this.#limit = Math.min(MAX_EVENTS, this.#limit * 2);
      return drained;
    } catch (error) {
      const cause = isPosthornError(error) ? error.cause : error;
      if (cause instanceof TooMany) {
        this.#limit = Math.max(1, Math.floor((limit * MAX_DELIVERIES) / (2 * cause.deliveries)));
        return undefined;
      }
      if (!isOfContent(cause)) throw error;
      this.#limit = Math.max(1, Math.floor(limit / 2));
      if (limit === 1) await this.#bury(cause);
      return undefined;
    }
  }

  async #bury(cause: unknown): Promise<void> {
    const message = cause instanceof Error ? cause.message : String(cause);
    const eventId = await this.#transactions.run(async (session) => {
      await this.#stage.lock(session);
      return this.#stage.bury(session, message);
    });
    if (eventId === undefined) return;
    const { rows } = await this.#transactions.read({
      text: `select public_id from ${this.#tables.event} where id = $1::text::int8`,
      params: [String(eventId)],
    });
    notify(this.#observer, { kind: "sequence_failed", id: rows[0]?.[0] ?? String(eventId), message });
  }

  async #batch(session: Session, limit: number, { due }: Locked): Promise<Batch> {
    reach("sequence.before_read");
    if (due) await this.#stage.moveDue(session, limit);
    const { staged, configVersion } = await this.#stage.take(session, limit);
    reach("sequence.after_read");
    if (staged.length === 0) return NOTHING;
    const directory = await this.#endpoints(session, configVersion);
    await this.#cancelOrphans(session, staged, directory);
    const places = inTurn(staged).flatMap((each) => placesOf(each, directory));
    if (places.length > MAX_DELIVERIES && staged.length > 1) throw new TooMany(places.length);
    reach("sequence.before_places");
    const known = this.#lanes.forVersion(configVersion);
    const placing = await makePlaces(session, places, known, this.#tables);
    reach("sequence.after_places");
    reach("sequence.before_commit");
    return { ...placing, events: staged.length, full: staged.length === limit };
  }

  /** Redrives whose endpoint was removed before they had their places. */
  async #cancelOrphans(session: Session, staged: readonly Staged[], { byNumber }: Directory): Promise<void> {
    const orphans = staged.filter(({ target }) => target !== undefined && !byNumber.has(target));
    if (orphans.length === 0) return;
    await session.query({
      text: `
        insert into ${this.#tables.cancelled} (endpoint_id, event_id, round, because, cancelled_at)
        select endpoint_id, event_id, round, 'endpoint_removed', clock_timestamp()
        from unnest($1::int8[], $2::int8[], $3::int4[]) as orphan (endpoint_id, event_id, round)`,
      params: [
        numberArray(orphans.map(({ target }) => target)),
        numberArray(orphans.map(({ eventId }) => eventId)),
        numberArray(orphans.map(({ round }) => round)),
      ],
    });
  }

  async #endpoints(session: Session, version: string): Promise<Directory> {
    if (this.#directory?.version === version) return this.#directory;
    const { rows } = await session.query({
      text: `select ${ENDPOINT_COLUMNS} from ${this.#tables.endpoint} where removed_at is null order by public_id`,
      params: [],
    });
    const stored = rows.map(storedEndpointOf);
    this.#directory = {
      version,
      fanOut: new FanOut(stored.map(({ endpoint }) => endpoint)),
      byNumber: new Map(stored.map((each) => [each.number, each])),
      numbers: new Map(stored.map(({ number, endpoint }) => [endpoint.id, number])),
    };
    return this.#directory;
  }
}

/** As the stage has them; but one that had to wait for its time stands before those that were published after it. */
function inTurn(staged: readonly Staged[]): readonly Staged[] {
  const waited = staged.filter((each) => each.waited).toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1));
  if (waited.length === 0) return staged;
  const turns: Staged[] = [];
  for (const each of staged) {
    if (each.waited) continue;
    while (each.target === undefined && waited[0] && waited[0].eventId < each.eventId) {
      turns.push(...waited.splice(0, 1));
    }
    turns.push(each);
  }
  return [...turns, ...waited];
}

function placesOf(staged: Staged, { fanOut, byNumber, numbers }: Directory): NumberedPlace[] {
  const { id: stageId, eventId, round, event, target } = staged;
  if (event === undefined) throw new Unplaceable(`event ${eventId} is not there`);
  if (target !== undefined) {
    const endpoint = byNumber.get(target)?.endpoint;
    if (endpoint === undefined) return [];
    return [{ stageId, eventId, round, endpoint: target, key: placeIn(endpoint, event.key).laneKey }];
  }
  return fanOut.placesOf(event).map(({ endpointId, laneKey }) => ({
    stageId,
    eventId,
    round,
    endpoint: numbers.get(endpointId) ?? 0n,
    key: laneKey,
  }));
}

// Values that do not fit, broken constraints, a trigger of the host's that refuses, limits of the server.
const OF_CONTENT = /^(22|23|54|P0)/;

/** Whether the events themselves are at fault, and not the database or the way to it. */
function isOfContent(error: unknown): boolean {
  if (error instanceof ChangeFailed) return false;
  return error instanceof Unplaceable || OF_CONTENT.test(sqlState(error) ?? "");
}
