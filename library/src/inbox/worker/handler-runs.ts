import { deliveryIdOf } from "../../lanes/delivery-id.js";
import type { Claim, ClaimedDelivery, RunLimits } from "../../lanes/lane-store.js";
import { notify } from "../../observer.js";
import { PosthornError } from "../../posthorn-error.js";
import { storeFailed } from "../../store-failed.js";
import { describeThrown } from "../../thrown.js";
import { isAgain } from "../handler/again.js";
import { isBatch } from "../handler/batch.js";
import { Timeouts } from "../handler/deadlines.js";
import { afterThrown, failedAttempt, mayBeTooOften, unlessTooOften } from "../handler/handler-failure.js";
import type { NewestStore } from "../handler/newest.js";
import type { Publisher } from "../handler/handlers.js";
import { givenBack, result, signalOf } from "./claim-result.js";
import type { ClaimResult } from "./claim-result.js";
import { isHandledByOther } from "./handler-table.js";
import type { Heartbeat } from "./heartbeat.js";
import type { InboxErrorCode } from "../inbox-errors.js";
import { HandlerFailure } from "../handler/prepare-work.js";
import { isLong } from "../handler/long.js";
import type { Long } from "../handler/long.js";
import { LongRuns } from "./long-runs.js";
import { SlotTurns } from "./slot-turns.js";
import { appliedBefore, ForgottenMeanwhile, ReplayedMeanwhile, runWork } from "./run-work.js";
import type { RunWorkParts } from "./run-work.js";
import { arrivalsOf } from "./stored-arrival.js";
import { noting, tellHandled } from "./tell-handled.js";
import type { Outcomes } from "./tell-handled.js";
import type { CheckedConsumer, WorkerSettings } from "./worker-options.js";
import type { Applied, ApplyWork, WorkerStore } from "./worker-store.js";

export interface HandlerRunParts<Tx> {
  readonly store: WorkerStore<Tx> & Partial<NewestStore<Tx>>;
  readonly publisher: Publisher<Tx> | undefined;
  readonly settings: WorkerSettings;
  readonly worker: string;
  readonly run: RunLimits;
  readonly isStopping: () => boolean;
  /** Whether others may wait for slots, of which none is free. */
  readonly isContended: () => boolean;
  readonly heartbeat: Heartbeat;
  /** Milliseconds that one event takes, by consumer. */
  readonly paces: Map<string, number>;
}

// The locks of a run's handlers last as long as all of them: a run is as long as takes about this time.
const RUN_MS = 250;
// How much one run counts among those before it.
const NEWEST_COUNTS = 0.3;
// For an event that somebody else is applying, or whose handler another version has.
const BUSY_AGAIN_MS = 1000;
const OTHER_VERSION_AGAIN_MS = 5000;

/** How many events of a lane share a transaction, by how long one has taken lately; one by one until that is known. */
export function runLength(paceMs: number | undefined, most: number): number {
  return paceMs === undefined ? 1 : Math.max(1, Math.min(most, Math.floor(RUN_MS / Math.max(paceMs, 1))));
}

/** Runs the handlers of claims. */
export class HandlerRuns<Tx> {
  readonly #parts: HandlerRunParts<Tx>;
  readonly #work: RunWorkParts<Tx>;
  readonly #longs: LongRuns<Tx>;
  readonly #deadlines: Timeouts;
  readonly #turns: SlotTurns;

  constructor(parts: HandlerRunParts<Tx>) {
    this.#parts = parts;
    const { store, publisher, heartbeat, settings } = parts;
    const { schemas, observer, clock } = settings;
    this.#work = { store, publisher, schemas, observer };
    this.#longs = new LongRuns({ work: this.#work, store, heartbeat, clock });
    this.#deadlines = new Timeouts(parts.settings.clock, parts.settings.handlerDeadlineMs);
    this.#turns = new SlotTurns(clock, parts.isContended);
  }

  /** Never throws: what went wrong is a result. */
  async run(claim: Claim): Promise<ClaimResult> {
    try {
      const ran = await this.#claimed(claim);
      if (ran.next !== undefined) this.#turns.goesOn(claim, ran.next);
      return ran;
    } catch (error) {
      notify(this.#parts.settings.observer, storeFailed("apply", error));
      // The epoch that the claim has may be over; then the settlement is stale, and changes nothing.
      const settlement = { claim, attempts: [], acknowledged: 0, rest: undefined };
      return { ...result(claim), settlement, lost: true };
    }
  }

  /** Cuts off long handlers; their leases are given back. */
  stopLong(): void {
    this.#longs.stop();
  }

  /** Whether the slot of a claim whose result is still to be settled goes on with its lane. */
  keepsSlot(claim: Claim): boolean {
    return this.#turns.of(claim).next;
  }

  /** A settlement has leased the next head into the slot of a claim. */
  goesOn(claim: Claim, next: Claim): void {
    this.#turns.goesOn(claim, next);
  }

  async #claimed(claim: Claim): Promise<ClaimResult> {
    const consumer = this.#parts.settings.consumers.get(claim.consumer.id);
    if (consumer === undefined) return givenBack(claim, BUSY_AGAIN_MS);
    if (!isHandled(consumer, claim.run[0])) return this.#unhandled(claim, consumer);
    const first = handlerOf(consumer, claim.run[0]);
    if (isLong(first)) return this.#long(claim, consumer, first);
    const tried = shortened(claim, this.#lengthOf(claim, consumer));
    const applied = await this.#apply(tried, consumer, true);
    // Any of them may be at fault: the same events one by one, so that those before it are applied.
    if (applied.kind === "failed" && tried.run.length > 1)
      return this.#oneByOne(claim, consumer, tried.run.length);
    return this.#resultOf(claim, applied, consumer);
  }

  /** How many events of a claim are tried together: those of one batch, or those of handlers that get one event each. */
  #lengthOf(claim: Claim, consumer: CheckedConsumer): number {
    const found = claim.run.map((delivery) => handlerOf(consumer, delivery));
    const [first] = found;
    if (isBatch(first))
      return Math.min(
        lengthWhile(found, (each) => each === first),
        first.max,
        arrivalsOf(claim).length,
      );
    const most = lengthWhile(found, (each) => each !== undefined && !isBatch(each) && !isLong(each));
    return runLength(
      this.#parts.paces.get(claim.consumer.id),
      Math.min(most, this.#parts.settings.plainEvents),
    );
  }

  async #oneByOne(claim: Claim, consumer: CheckedConsumer, count: number): Promise<ClaimResult> {
    let current = shortened(claim, 1);
    for (let done = 0; ; done++) {
      const applied = await this.#apply(current, consumer);
      const { next } = applied as { readonly next?: Claim };
      const goesOn = next !== undefined && done + 1 < count && isShort(consumer, next.run[0]);
      if (!goesOn) {
        const last = await this.#resultOf(current, applied, consumer);
        return { ...last, claim, handled: last.handled + done };
      }
      current = shortened(next, 1);
    }
  }

  async #apply(claim: Claim, consumer: CheckedConsumer, other = false): Promise<TimedApplied> {
    const { clock } = this.#parts.settings;
    const [startedAt, from] = [new Date(clock.now()), clock.monotonic()];
    const outcomes: Outcomes = new Map();
    const ran = await this.#withDeadline(claim, consumer, {
      outcomes,
      other,
      prepare: (signal) => runWork(this.#work, consumer, { claim, signal }),
    });
    const durationMs = clock.monotonic() - from;
    const applied = await this.#judged(claim, ran);
    tellHandled(this.#parts.settings.observer, claim, { applied, outcomes, durationMs });
    // What a batch takes says nothing of handlers that get one event each.
    if (applied.kind === "applied" && !isBatch(handlerOf(consumer, claim.run[0])))
      this.#learn(claim.consumer.id, durationMs / applied.count);
    return { ...applied, startedAt, durationMs };
  }

  /** Runs the handler of the head without a transaction; its end marks the event. */
  async #long(claim: Claim, consumer: CheckedConsumer, handler: Long<unknown>): Promise<ClaimResult> {
    const single = claim.run.length === 1 ? claim : await this.#leaseHead(claim);
    if (single === undefined) return result(claim);
    const { clock } = this.#parts.settings;
    const [startedAt, from] = [new Date(clock.now()), clock.monotonic()];
    const outcomes: Outcomes = new Map();
    const prepared = (work: ApplyWork<Tx>) => ({ outcomes, prepare: () => Promise.resolve(work) });
    const ran = await this.#longs.run(single, handler, (work, letGo) =>
      work === undefined
        ? this.#withDeadline(single, consumer, prepared(appliedBefore))
        : this.#mark(single, consumer, { ...prepared(work), letGo }),
    );
    if (ran.kind === "lost") return result(claim);
    if (ran.kind === "stopped") {
      const settlement = { claim: single, attempts: [], acknowledged: 0, rest: undefined };
      return { ...result(claim), settlement };
    }
    const durationMs = clock.monotonic() - from;
    const applied = await this.#judged(single, ran);
    tellHandled(this.#parts.settings.observer, single, { applied, outcomes, durationMs });
    const timed = { ...applied, startedAt, durationMs };
    return { ...(await this.#resultOf(single, timed, consumer)), claim };
  }

  /** A run that lapses is no attempt of its head; what takes hours is leased by itself, so that an interruption is recorded. */
  async #leaseHead(claim: Claim): Promise<Claim | undefined> {
    const { store, settings, worker, run, heartbeat } = this.#parts;
    const given = { claim, attempts: [], acknowledged: 0, rest: undefined, next: true };
    const terms = { worker, leaseMs: settings.leaseMs, run: { ...run, maxEvents: 1 } };
    const askedAt = settings.clock.monotonic();
    const [settled] = await store.settle({ ...terms, settlements: [given] });
    const next = settled?.kind === "settled" ? settled.next : undefined;
    if (next === undefined) return undefined;
    heartbeat.leased(next, askedAt);
    this.#turns.goesOn(claim, next);
    return next;
  }

  /**
   * Tries again where the database had no room: what took hours is not to be done again for that. The lease is kept meanwhile; where
   * the store is silent for as long as a lease lasts, it is let go, or no other worker could ever begin.
   */
  async #mark(
    claim: Claim,
    consumer: CheckedConsumer,
    { letGo, ...prepared }: Prepared<Tx> & { readonly letGo: () => void },
  ): Promise<Applied> {
    const { isStopping, settings } = this.#parts;
    const { clock, leaseMs } = settings;
    for (;;) {
      const answered = new AbortController();
      void clock.sleep(leaseMs, answered.signal).then(() => (answered.signal.aborted ? undefined : letGo()));
      const marking = this.#withDeadline(claim, consumer, prepared);
      const applied = await marking.finally(() => answered.abort("answered"));
      // It runs anew, in its round.
      if (applied.kind === "failed" && applied.error instanceof ReplayedMeanwhile) return { kind: "busy" };
      const hasToWait = applied.kind === "busy" || applied.kind === "saturated";
      if (!hasToWait || isStopping()) return applied;
      await clock.sleep(BUSY_AGAIN_MS);
    }
  }

  async #withDeadline(
    claim: Claim,
    consumer: CheckedConsumer,
    { outcomes, prepare, other = false }: Prepared<Tx>,
  ): Promise<Applied> {
    const { store, settings, worker, isStopping, heartbeat } = this.#parts;
    const { maxBytes } = this.#parts.run;
    const { acquireMs, leaseMs, handlerDeadlineMs, clock } = settings;
    const deadline = new AbortController();
    const timeout = this.#deadlines.start(() => deadline.abort(deadlineError(handlerDeadlineMs)));
    const { signal } = deadline;
    try {
      const prepared = await prepare(signal);
      let askedAt = clock.monotonic();
      // What it leases next is leased after the work.
      const work = noting(prepared, outcomes, () => (askedAt = clock.monotonic()));
      const run = { maxEvents: consumer.mostEvents, maxBytes };
      const turn = this.#turns.of(claim);
      const goesOn = { next: turn.next && !isStopping(), other: turn.other && other };
      const limits = { acquireMs, signal, worker, leaseMs, run, ...goesOn };
      const applied = await store.apply(claim, work, limits);
      const { next } = applied as { readonly next?: Claim };
      if (next !== undefined) heartbeat.leased(next, askedAt);
      const isForgotten = applied.kind === "failed" && applied.error instanceof ForgottenMeanwhile;
      return isForgotten ? { kind: "busy" } : applied;
    } catch (error) {
      if (error instanceof HandlerFailure) return { kind: "failed", error: error.cause };
      throw error;
    } finally {
      this.#deadlines.stop(timeout);
    }
  }

  /** Looks whether `again` was said too often: the attempts of a head are read only where it may have been. */
  async #judged(claim: Claim, applied: Applied): Promise<Applied> {
    if (applied.kind !== "failed" || !mayBeTooOften(claim)) return applied;
    const [{ sequence }] = claim.run;
    const { kind, id } = claim;
    const name = deliveryIdOf(kind === "lane" ? { kind, lane: id, sequence } : { kind, id });
    const { error } = applied;
    const thrown = error instanceof HandlerFailure ? error.cause : error;
    if (!isAgain(thrown)) return applied;
    return { kind: "failed", error: unlessTooOften(claim, thrown, await this.#parts.store.attempts(name)) };
  }

  /** No handler here for its source and type: another version of the host may have one; else it is recorded as skipped. */
  async #unhandled(claim: Claim, consumer: CheckedConsumer): Promise<ClaimResult> {
    const [registered] = await this.#parts.store.readHandlers([claim.consumer.id]);
    if (registered !== undefined && isHandledByOther(registered, claim.run[0].event))
      return { ...givenBack(claim, OTHER_VERSION_AGAIN_MS), isOthers: true };
    return this.#skip(claim, consumer, undefined);
  }

  /** Records the head as skipped, in a transaction of its own, and goes on behind it. */
  async #skip(claim: Claim, consumer: CheckedConsumer, because: string | undefined): Promise<ClaimResult> {
    const { observer, clock } = this.#parts.settings;
    const startedAt = new Date(clock.now());
    const outcomes: Outcomes = new Map();
    const skipped = { outcome: "skipped", because } as const;
    const prepare = (): Promise<ApplyWork<Tx>> => Promise.resolve(() => [skipped]);
    const applied = await this.#withDeadline(shortened(claim, 1), consumer, { outcomes, prepare });
    tellHandled(observer, claim, { applied, outcomes, durationMs: 0 });
    // By no rule: the one that skips would skip again, and fail again, without end.
    return this.#resultOf(claim, { ...applied, startedAt, durationMs: 0 }, { ...consumer, errors: [] });
  }

  async #resultOf(claim: Claim, applied: TimedApplied, consumer: CheckedConsumer): Promise<ClaimResult> {
    switch (applied.kind) {
      case "applied":
      case "duplicate":
        return { ...result(claim), handled: applied.count, next: applied.next };
      case "stale":
        return result(claim);
      case "busy":
      case "saturated":
        return givenBack(claim, BUSY_AGAIN_MS);
      case "failed":
        return this.#failed(claim, applied, consumer);
    }
  }

  /** What a handler threw is the event's failure, unless a rule of its consumer, or the handler itself, says otherwise. */
  async #failed(
    claim: Claim,
    { error, ...timed }: Extract<TimedApplied, { kind: "failed" }>,
    checked: CheckedConsumer,
  ): Promise<ClaimResult> {
    const thrown = error instanceof HandlerFailure ? error.cause : error;
    const { retry, errors: rules } = checked;
    const policy = { retry, dead: checked.consumer.dead, rules };
    const consequence = afterThrown(claim, policy, { thrown, chance: this.#parts.settings.random() });
    if (consequence.kind === "skip") {
      this.#tell(claim, `skipped: ${consequence.because}`);
      return this.#skip(claim, checked, consequence.because);
    }
    const { rest, outcome } = consequence;
    const isFailure = outcome === "failed";
    this.#tell(
      claim,
      `${isFailure ? "failed" : "postponed"}, attempt ${claim.attempts + 1}: ${describeThrown(consequence.error)}`,
    );
    const attempts = [failedAttempt(claim, consequence, timed)];
    const settlement = { claim, attempts, acknowledged: 0, rest };
    return { ...result(claim), failed: isFailure ? 1 : 0, settlement, signal: signalOf(claim, rest) };
  }

  #tell({ consumer, run: [{ event }] }: Claim, what: string): void {
    const { source, type, receipt, id } = event;
    const known = { source, type, id: receipt?.id ?? id, message: `${consumer.id} ${what}` };
    notify(this.#parts.settings.observer, { kind: "handler_log", level: "warn", ...known });
  }

  #learn(consumer: string, ms: number): void {
    const before = this.#parts.paces.get(consumer) ?? ms;
    this.#parts.paces.set(consumer, before + NEWEST_COUNTS * (ms - before));
  }
}

/** What an apply runs, and where it notes what each event came to. */
interface Prepared<Tx> {
  readonly outcomes: Outcomes;
  /** Whether another lane may be leased with it. */
  readonly other?: boolean;
  readonly prepare: (signal: AbortSignal) => Promise<ApplyWork<Tx>>;
}

type TimedApplied = Applied & { readonly startedAt: Date; readonly durationMs: number };

function handlerOf({ handlers }: CheckedConsumer, { event }: ClaimedDelivery): unknown {
  return handlers.find(event.source, event.type);
}

function isHandled(consumer: CheckedConsumer, delivery: ClaimedDelivery): boolean {
  return handlerOf(consumer, delivery) !== undefined;
}

/** Whether it has a handler that runs in its transaction. */
function isShort(consumer: CheckedConsumer, delivery: ClaimedDelivery): boolean {
  const handler = handlerOf(consumer, delivery);
  return handler !== undefined && !isLong(handler);
}

/** How many from the first on are so. */
function lengthWhile<T>(items: readonly T[], isSo: (item: T) => boolean): number {
  const end = items.findIndex((item) => !isSo(item));
  return end === -1 ? items.length : end;
}

function shortened(claim: Claim, length: number): Claim {
  const [head, ...others] = claim.run.slice(0, length);
  return head === undefined || length >= claim.run.length ? claim : { ...claim, run: [head, ...others] };
}

function deadlineError(ms: number): PosthornError<InboxErrorCode> {
  return new PosthornError(
    "handler_deadline",
    `The handler did not finish within ${ms} ms; its transaction was rolled back.`,
  );
}
