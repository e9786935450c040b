import { reach } from "#faults";
import type { SequenceReport } from "../../../lanes/lane-store.js";
import type { Observer } from "../../../observer.js";
import { notify } from "../../../observer.js";
import { FanOut, placeIn } from "../../../outbox/fan-out.js";
import { isPosthornError } from "../../../posthorn-error.js";
import type { Session, Statement } from "../client/database.js";
import { sqlState } from "../client/failure.js";
import { givenRows, numbers } from "../client/given-rows.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import type { StoredEndpoint } from "../outbox/endpoint-row.js";
import { readAllStored } from "../outbox/endpoint-row.js";
import { finishRemovals } from "../outbox/remove-endpoint.js";
import type { NumberedPlace } from "./places.js";
import { makePlaces } from "./places.js";
import type { Staged, StageLock } from "./stage.js";
import {
  buryFirst,
  isWaiting,
  lockStage,
  moveDue,
  stageLockOf,
  takeStaged,
  tryLockStage,
  Unplaceable,
} from "./stage.js";

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

/** The consumers, as they were at a version of the configuration. */
interface Directory {
  readonly version: string;
  readonly fanOut: FanOut;
  readonly byNumber: ReadonlyMap<bigint, StoredEndpoint>;
  readonly byId: ReadonlyMap<string, bigint>;
}

/** What was done of a batch of events. */
interface Batch {
  readonly events: number;
  /** Its last statement, which is still to be run. */
  readonly insert?: Statement;
  /** True when the stage may have more. */
  readonly full: boolean;
}

interface Drained<T> {
  readonly batch: Batch;
  readonly done?: { readonly value: T };
}

/** The change after the sequencing failed, not the sequencing. */
class ChangeFailed extends Error {}

async function ofChange<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new ChangeFailed(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

export interface SequencerParts extends StoreDatabase {
  readonly observer: Observer | undefined;
}

const NOTHING: Batch = { events: 0, full: false };

/** A redrive whose consumer was removed before it had its place. */
interface Orphan {
  readonly target: bigint | undefined;
  readonly eventId: bigint;
  readonly round: number;
}

const ORPHANS = givenRows<Orphan>({
  consumer_id: numbers("int8", ({ target }) => target),
  event_id: numbers("int8", ({ eventId }) => eventId),
  round: numbers("int4", ({ round }) => round),
});

/** Gives committed events their places. One process at a time does it for the whole outbox. */
export class Sequencer {
  readonly #parts: SequencerParts;
  #directory: Directory | undefined;
  // How many events a batch takes: fewer after one that failed, or had too many consumers.
  #limit = MAX_EVENTS;
  #busy = false;

  constructor(parts: SequencerParts) {
    this.#parts = parts;
  }

  async sequence(): Promise<SequenceReport> {
    // Asked first: an idle process polls often, and one statement costs less than a transaction.
    if (!this.#busy && !(await isWaiting(this.#reader(), this.#parts.tables)))
      return { events: 0, more: false };
    const known = this.#directory;
    const { events, full } = await this.#some();
    this.#busy = events > 0;
    // The consumers have changed: a process that removed one of them may have died before its end.
    if (this.#directory !== known) await finishRemovals(this.#parts);
    return { events, more: full };
  }

  /** Sequences all that is committed, and runs `work` before anybody sequences more: what was published before a change of endpoints goes where it went before. */
  async drained<T>(work: (session: Session) => Promise<T>): Promise<T> {
    for (;;) {
      const limit = this.#limit;
      const drain = (): Promise<Drained<T>> =>
        this.#parts.transactions.run(async (session) => {
          const batch = await this.#batch(session, limit, await lockStage(session, this.#parts.tables));
          if (batch.insert) await session.query(batch.insert);
          return batch.full ? { batch } : { batch, done: { value: await ofChange(work(session)) } };
        });
      const drained = await this.#attempt(limit, drain);
      if (drained?.done) return drained.done.value;
    }
  }

  #reader(): Session {
    return { query: (statement) => this.#parts.transactions.read(statement) };
  }

  async #some(): Promise<Batch> {
    const { transactions, tables } = this.#parts;
    for (;;) {
      const limit = this.#limit;
      const once = (): Promise<Drained<never>> =>
        transactions.runFrom(tryLockStage(tables), async (scope, answer) => {
          const locked = stageLockOf(answer);
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

  /** Undefined when a batch failed because of its events: the next try takes fewer, down to the one event that cannot be sequenced, which is set aside. */
  async #attempt<T>(limit: number, once: () => Promise<Drained<T>>): Promise<Drained<T> | undefined> {
    try {
      const drained = await once();
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
    const { transactions, tables, observer } = this.#parts;
    const message = cause instanceof Error ? cause.message : String(cause);
    const eventId = await transactions.run(async (session) => {
      await lockStage(session, tables);
      return buryFirst(session, message, tables);
    });
    if (eventId === undefined) return;
    const { rows } = await transactions.read({
      text: `select public_id from ${tables.event} where id = $1::text::int8`,
      params: [String(eventId)],
    });
    const publicId = rows[0]?.[0];
    const id = typeof publicId === "string" ? publicId : String(eventId);
    notify(observer, { kind: "sequence_failed", id, message });
  }

  async #batch(session: Session, limit: number, { due }: StageLock): Promise<Batch> {
    const { tables } = this.#parts;
    reach("sequence.before_read");
    if (due) await moveDue(session, limit, tables);
    const { staged, configVersion } = await takeStaged(session, limit, tables);
    reach("sequence.after_read");
    if (staged.length === 0) return NOTHING;
    const directory = await this.#consumers(session, configVersion);
    await this.#cancelOrphans(session, staged, directory);
    const places = inTurn(staged).flatMap((each) => placesOf(each, directory));
    if (places.length > MAX_DELIVERIES && staged.length > 1) throw new TooMany(places.length);
    reach("sequence.before_places");
    const insert = await makePlaces(session, places, tables);
    reach("sequence.after_places");
    reach("sequence.before_commit");
    return { insert, events: staged.length, full: staged.length === limit };
  }

  /** Redrives whose consumer was removed before they had their places. */
  async #cancelOrphans(session: Session, staged: readonly Staged[], { byNumber }: Directory): Promise<void> {
    const orphans = staged.filter(({ target }) => target !== undefined && !byNumber.has(target));
    if (orphans.length === 0) return;
    await session.query({
      text: `
        insert into ${this.#parts.tables.cancelled} (consumer_id, event_id, round, because, cancelled_at)
        select consumer_id, event_id, round, 'endpoint_removed', clock_timestamp()
        from ${ORPHANS.table("orphan")} order by n`,
      params: ORPHANS.params(orphans),
    });
  }

  async #consumers(session: Session, version: string): Promise<Directory> {
    if (this.#directory?.version === version) return this.#directory;
    const stored = await readAllStored(session, this.#parts.tables);
    this.#directory = {
      version,
      fanOut: new FanOut(stored.map(({ endpoint }) => endpoint)),
      byNumber: new Map(stored.map((each) => [each.number, each])),
      byId: new Map(stored.map(({ number, endpoint }) => [endpoint.id, number])),
    };
    return this.#directory;
  }
}

/** In the order of the stage; but an event that had to wait for its time stands before those that were published after it. */
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

function placesOf(staged: Staged, { fanOut, byNumber, byId }: Directory): NumberedPlace[] {
  const { id: stageId, eventId, round, event, target } = staged;
  if (event === undefined) throw new Unplaceable(`event ${eventId} is not there`);
  if (target !== undefined) {
    const endpoint = byNumber.get(target)?.endpoint;
    if (endpoint === undefined) return [];
    return [{ stageId, eventId, round, consumer: target, key: placeIn(endpoint, event.key).laneKey }];
  }
  return fanOut.placesOf(event).map(({ endpointId, laneKey }) => ({
    stageId,
    eventId,
    round,
    consumer: byId.get(endpointId) ?? 0n,
    key: laneKey,
  }));
}

// Values that do not fit, broken constraints, a trigger of the host's that refuses, limits of the server.
const OF_CONTENT = /^(22|23|54|P0)/;

/** Whether the events themselves are at fault, and not the database or the connection. */
function isOfContent(error: unknown): boolean {
  if (error instanceof ChangeFailed) return false;
  return error instanceof Unplaceable || OF_CONTENT.test(sqlState(error) ?? "");
}
