import { reach } from "#faults";
import { dealPlaces } from "../../../lanes/deal.js";
import type { Dealt, Part } from "../../../lanes/deal.js";
import type { SequenceReport } from "../../../lanes/lane-store.js";
import type { Observer, Signal } from "../../../observer.js";
import { notify } from "../../../observer.js";
import { placeIn, UNCLAIMED } from "../../../outbox/fan-out.js";
import { isPosthornError } from "../../../posthorn-error.js";
import type { Session, Statement } from "../client/database.js";
import { sqlState } from "../client/failure.js";
import { givenRows, numbers } from "../client/given-rows.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import type { ConsumerSet } from "../outbox/consumer-book.js";
import { ConsumerBook } from "../outbox/consumer-book.js";
import { removedWord, Remover } from "../outbox/remove-endpoint.js";
import { holdBack } from "./hold.js";
import type { NumberedPlace } from "./places.js";
import { makePlaces } from "./places.js";
import type { Staged, StageLock } from "./stage.js";
import {
  lockStage,
  moveDue,
  readWork,
  setAsideFailed,
  setAsideTaken,
  stageLockOf,
  takeStaged,
  tryLockStage,
  Unplaceable,
} from "./stage.js";

const MAX_EVENTS = 1000;

/** How many deliveries one step writes at most, whatever waits: other tenants wait for one step. */
export const MAX_DELIVERIES = 5000;

/** What is to be sequenced in one step. */
interface Step {
  /** How many events are taken at most. */
  readonly limit: number;
  /** The only tenant whose events are taken; undefined: of every tenant in turn. */
  only: string | undefined;
  /** Filled with what was taken: a step that fails says of which events. */
  taken: readonly Staged[];
  /** Filled with what was taken and has no event. */
  gone: readonly Staged[];
  /** Filled with what was stored for handlers, of which none is registered for it. */
  unclaimed: readonly Staged[];
  /** Filled with what was decided of events that were held back. */
  told: readonly Signal[];
}

/** What was done in one step. */
interface Done {
  readonly events: number;
  /** The last statement of the step, which is still to be run. */
  readonly insert?: Statement;
  /** True when the stage may have more. */
  readonly more: boolean;
  /** Whether something waits for a consumer that was removed; undefined where nobody looked. */
  readonly removed?: boolean;
}

interface Drained<T> {
  readonly step: Done;
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

type Deal = (queues: readonly (readonly Staged[])[]) => readonly Dealt<Staged, NumberedPlace>[];

const NOTHING: Done = { events: 0, more: false };

/** Not asked: the last step found something. */
const BUSY = { staged: true, removed: false };

const GONE = "the event is not in the table of events";

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

/** Gives committed events their places, a bounded step at a time. One process at a time does it for the whole outbox. */
export class Sequencer {
  readonly remover: Remover;
  readonly #parts: SequencerParts;
  readonly #book: ConsumerBook;
  // How many events a step takes: fewer after one that failed.
  #limit = MAX_EVENTS;
  #busy = false;
  // The tenant that had its turn last.
  #cursor = "";

  constructor(parts: SequencerParts) {
    this.#parts = parts;
    this.#book = new ConsumerBook(parts.tables);
    this.remover = new Remover(parts);
  }

  async sequence(): Promise<SequenceReport> {
    // Asked first: an idle process polls often, and one statement costs less than a transaction.
    const work = this.#busy ? BUSY : await readWork(this.#reader(), this.#parts.tables);
    const { events, more, removed = work.removed } = work.staged ? await this.#some() : NOTHING;
    this.#busy = events > 0;
    if (!removed) return { events, more };
    // Outside of the step, and without its lock: the cancelling of a million deliveries must not stop anybody's events.
    const step = await this.remover.step();
    return { events, more: more || step.more, cancelled: step.cancelled };
  }

  /**
   * Sequences all that is committed of one tenant, and runs `work` before anybody sequences more: what was published
   * before a change of endpoints goes where it went before. `tenantOf` is asked under the lock; undefined: of nobody.
   */
  async drained<T>(
    tenantOf: (session: Session) => Promise<string | undefined>,
    work: (session: Session) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      const step: Step = {
        limit: this.#limit,
        only: undefined,
        taken: [],
        gone: [],
        unclaimed: [],
        told: [],
      };
      const drain = (): Promise<Drained<T>> =>
        this.#parts.transactions.run(async (session) => {
          const locked = await lockStage(session, this.#parts.tables);
          step.only = await ofChange(tenantOf(session));
          const made = step.only === undefined ? NOTHING : await this.#step(session, step, locked);
          if (made.insert) await session.query(made.insert);
          return made.more ? { step: made } : { step: made, done: { value: await ofChange(work(session)) } };
        });
      const drained = await this.#attempt(step, drain);
      if (drained?.done) return drained.done.value;
    }
  }

  #reader(): Session {
    return { query: (statement) => this.#parts.transactions.read(statement) };
  }

  async #some(): Promise<Done> {
    const { transactions, tables } = this.#parts;
    for (;;) {
      const step: Step = {
        limit: this.#limit,
        only: undefined,
        taken: [],
        gone: [],
        unclaimed: [],
        told: [],
      };
      const once = (): Promise<Drained<never>> =>
        transactions.runFrom(tryLockStage(tables), async (scope, answer) => {
          const locked = stageLockOf(answer);
          if (!locked.got) return { step: { ...NOTHING, more: true } };
          const made = await this.#step(scope, step, locked);
          if (made.insert) scope.closing = made.insert;
          return { step: { ...made, removed: locked.removed } };
        });
      reach("sequence.before_lock");
      const some = await this.#attempt(step, once);
      reach("sequence.after_commit");
      if (some) {
        this.#cursor = step.taken.at(-1)?.tenant ?? this.#cursor;
        return some.step;
      }
    }
  }

  /** Undefined when a step failed because of its events: the next try takes fewer, down to the one event that cannot be sequenced, which is set aside. */
  async #attempt<T>(step: Step, once: () => Promise<Drained<T>>): Promise<Drained<T> | undefined> {
    try {
      const drained = await once();
      this.#limit = Math.min(MAX_EVENTS, this.#limit * 2);
      for (const staged of step.gone) this.#tell(staged, GONE);
      for (const staged of step.unclaimed) this.#tell(staged, UNCLAIMED);
      for (const signal of step.told) notify(this.#parts.observer, signal);
      return drained;
    } catch (error) {
      const cause = isPosthornError(error) ? error.cause : error;
      // What a change itself refuses is told as it is; what the database refused of it, as any other failure of the store.
      if (cause instanceof ChangeFailed) throw isPosthornError(cause.cause) ? cause.cause : error;
      if (!isOfContent(cause)) throw error;
      const [failed, ...others] = step.taken;
      if (failed !== undefined && others.length === 0) await this.#setAside(failed, cause);
      this.#limit = Math.max(1, Math.floor(Math.min(step.limit, step.taken.length) / 2));
      return undefined;
    }
  }

  /** By the id that failed: what is the first of the stage by now may be another event. */
  async #setAside(failed: Staged, cause: unknown): Promise<void> {
    const { transactions, tables } = this.#parts;
    const error = cause instanceof Error ? cause.message : String(cause);
    const isSetAside = await transactions.run(async (session) => {
      await lockStage(session, tables);
      return setAsideFailed(session, failed, { error, tables });
    });
    if (isSetAside) this.#tell(failed, error);
  }

  async #step(session: Session, step: Step, { due }: StageLock): Promise<Done> {
    const { tables } = this.#parts;
    reach("sequence.before_read");
    const { limit, only } = step;
    const moved = due ? await moveDue(session, limit, tables) : 0;
    const { queues, more, mark } = await takeStaged(session, { limit, only, cursor: this.#cursor }, tables);
    step.taken = queues.flat();
    reach("sequence.after_read");
    const mayBeMore = more || moved >= limit;
    if (step.taken.length === 0 && !due) return { events: 0, more: mayBeMore };
    const consumers = await this.#book.read(session, mark);
    const aside = await this.#setAsideSome(session, step, consumers);
    const deal: Deal = (given) =>
      dealPlaces(given.map(inTurn), MAX_DELIVERIES, (staged, most) => partOf(staged, most, consumers));
    const placeable = queues.map((queue) => queue.filter((staged) => !aside.has(staged)));
    const kept = await holdBack(session, { queues: placeable, due, deal }, tables);
    step.told = kept.told;
    const dealt = deal(kept.queues);
    await this.#cancelOrphans(session, dealt, consumers);
    reach("sequence.before_places");
    const insert = await makePlaces(session, dealt, tables);
    reach("sequence.after_places");
    reach("sequence.before_commit");
    const done = aside.size + kept.held + dealt.filter(({ isDone }) => isDone).length;
    return {
      insert,
      events: aside.size + kept.held + kept.freed + dealt.length,
      more: mayBeMore || kept.freed > 0 || done < step.taken.length,
    };
  }

  /** What was taken and can be given no place: its event is gone, or no handler is registered for it. */
  async #setAsideSome(session: Session, step: Step, { fanOut }: ConsumerSet): Promise<ReadonlySet<Staged>> {
    const { tables } = this.#parts;
    const isUnclaimed = ({ event, target }: Staged): boolean =>
      target === undefined && event !== undefined && fanOut.isUnclaimed(event);
    step.gone = step.taken.filter(isGone);
    step.unclaimed = step.taken.filter(isUnclaimed);
    if (step.gone.length > 0) await setAsideTaken(session, step.gone, { error: GONE, tables });
    if (step.unclaimed.length > 0) await setAsideTaken(session, step.unclaimed, { error: UNCLAIMED, tables });
    return new Set([...step.gone, ...step.unclaimed]);
  }

  /** Redrives whose consumer was removed before they had their places. */
  async #cancelOrphans(
    session: Session,
    dealt: readonly Dealt<Staged, NumberedPlace>[],
    { byNumber }: ConsumerSet,
  ): Promise<void> {
    const redriven = dealt.map(({ event }) => event).filter(({ target }) => target !== undefined);
    const orphans = redriven.filter(({ target = 0n }) => !byNumber.has(target));
    if (orphans.length === 0) return;
    const { cancelled, consumer } = this.#parts.tables;
    await session.query({
      text: `
        insert into ${cancelled} (consumer_id, event_id, round, because, cancelled_at)
        select consumer_id, event_id, round, ${removedWord("orphan.consumer_id", consumer)}, clock_timestamp()
        from ${ORPHANS.table("orphan")} order by n`,
      params: ORPHANS.params(orphans),
    });
  }

  #tell(staged: Staged, message: string): void {
    const { observer } = this.#parts;
    notify(observer, { kind: "sequence_failed", id: staged.publicId ?? String(staged.eventId), message });
  }
}

function isGone({ event }: Staged): boolean {
  return event === undefined;
}

/**
 * In the order of the stage, but for two: an event that has a part of its places is finished first, and one that had to
 * wait for its time stands before those that were published after it.
 */
function inTurn(queue: readonly Staged[]): readonly Staged[] {
  const begun = queue.filter(({ after }) => after !== undefined);
  const waited = queue.filter((each) => each.waited && each.after === undefined);
  if (waited.length === 0 && begun.length === 0) return queue;
  waited.sort((a, b) => (a.eventId < b.eventId ? -1 : 1));
  const turns: Staged[] = [...begun];
  for (const each of queue) {
    if (each.waited || each.after !== undefined) continue;
    while (each.target === undefined && waited[0] && waited[0].eventId < each.eventId) {
      turns.push(...waited.splice(0, 1));
    }
    turns.push(each);
  }
  return [...turns, ...waited];
}

/** Up to `most` of the places that an event has not been given yet, in the order of the consumers' numbers. */
function partOf(
  staged: Staged,
  most: number,
  { fanOut, byNumber, numbers: known }: ConsumerSet,
): Part<NumberedPlace> {
  const { id: stageId, eventId, round, event, target, after } = staged;
  if (event === undefined) throw new Unplaceable(GONE);
  const numberOf = (consumerId: string): bigint => known.get(consumerId) ?? 0n;
  if (target !== undefined) {
    const consumer = byNumber.get(target);
    const lane = consumer && placeIn(consumer, event).lane;
    return { places: consumer ? [{ stageId, eventId, round, consumer: target, lane }] : [], isDone: true };
  }
  const { places, isDone } = fanOut.partOf(
    event,
    (consumerId) => after === undefined || numberOf(consumerId) > after,
    most,
  );
  const numbered = places.map(({ consumerId, lane }) => ({
    stageId,
    eventId,
    round,
    consumer: numberOf(consumerId),
    lane,
  }));
  return { places: numbered, isDone };
}

// Values that do not fit, broken constraints, a trigger of the host's that refuses, limits of the server.
const OF_CONTENT = /^(22|23|54|P0)/;

/** Whether the events themselves are at fault, and not the database or the connection. */
function isOfContent(error: unknown): boolean {
  return error instanceof Unplaceable || OF_CONTENT.test(sqlState(error) ?? "");
}
