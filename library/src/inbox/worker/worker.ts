import type { Claimable, Claim, RunLimits, Settlement } from "../../lanes/lane-store.js";
import { LaneLoop } from "../../lanes/lane-loop.js";
import { notify } from "../../observer.js";
import { PosthornError } from "../../posthorn-error.js";
import type { TransactionMode } from "../../store-capabilities.js";
import { joinParties, witnessed } from "../../witness.js";
import { Drains } from "../../work/drains.js";
import type { AskedNext } from "../../work/work-loop.js";
import type { ClaimResult } from "./claim-result.js";
import { HandlerRuns } from "./handler-runs.js";
import { Heartbeat } from "./heartbeat.js";
import type { LeaseName } from "./heartbeat.js";
import type { Schemas } from "../handler/handlers.js";
import type { InboxErrorCode } from "../inbox-errors.js";
import type { NewestStore } from "../handler/newest.js";
import { checkDrain } from "./check-worker.js";
import { OthersFirst } from "./others-first.js";
import { checkWorker, mostSlots } from "./worker-options.js";
import type { WorkerOptions, WorkerSettings } from "./worker-options.js";
import type { WorkerStore } from "./worker-store.js";

/** Runs the handlers of events that a receiver has stored. */
export interface Worker {
  /** Registers the handlers and begins to run them in the background, until `stop`. */
  start(): Promise<void>;
  /**
   * Finishes what is under way, drains included, and hands everything else over at once. Long handlers get `stopGraceMs`; then their signals
   * abort, and they are handed over, too.
   */
  stop(): Promise<void>;
  /** Handles what is due and returns: for cron and serverless functions. It works with one slot on any pool. */
  drain(limits?: WorkerDrainLimits): Promise<WorkerDrainReport>;
}

/** When a drain ends, though more may be due. */
export interface WorkerDrainLimits {
  /** After this time no handler begins. @default no limit */
  readonly deadlineMs?: number;
}

/** What a drain has done. */
export interface WorkerDrainReport {
  /** Events that were applied, skipped, or found to be duplicates. */
  readonly handled: number;
  /** Handlers that failed. */
  readonly failed: number;
  /** True when it stopped at a limit, and more may be due. */
  readonly more: boolean;
}

/**
 * Makes a worker: it runs the handlers of events that a receiver of the same store, with `mode: "store_first"`, has stored.
 * Each handler runs in a transaction of the host, which commits its writes together with the event's progress.
 *
 * @example
 * const worker = createWorker({
 *   store,
 *   handlers: {
 *     "invoice.paid": async (event, { tx }) => {
 *       await tx.query("update invoice set paid = true where id = $1", [event.data.data.object.id]);
 *     },
 *   },
 * });
 * await worker.start();
 */
export function createWorker<Tx, Mode extends TransactionMode, S extends Schemas = Schemas>(
  options: WorkerOptions<Tx, Mode, S>,
): Worker {
  return new HandlerWorker<Tx>(options);
}

class HandlerWorker<Tx> implements Worker {
  readonly #options: WorkerOptions<Tx, TransactionMode>;
  readonly #settings: WorkerSettings;
  /** What handlers take is known beyond one drain: each would begin one by one again. */
  readonly #paces = new Map<string, number>();
  readonly #drains = new Drains<WorkerRun<Tx>>();
  #run: WorkerRun<Tx> | undefined;
  #ended: Promise<void> | undefined;

  constructor(options: WorkerOptions<Tx, TransactionMode>) {
    const { store } = options;
    this.#options = options;
    const settings = checkWorker(options);
    this.#settings = { ...settings, observer: witnessed(store, settings.observer) };
    joinParties(this, {
      kind: "worker",
      store,
      clock: settings.clock,
      handlers: [...settings.consumers.keys()],
      isBusy: () => this.#run?.isBusy === true,
    });
  }

  async start(): Promise<void> {
    if (this.#run !== undefined) return;
    const { store } = this.#options;
    if (this.#settings.slots > mostSlots(store)) {
      throw new PosthornError<InboxErrorCode>(
        "inbox_option_invalid",
        `The pool has ${store.connections} connections; a worker in the background needs 3 or more. Enlarge the pool, or use drain().`,
      );
    }
    const run = new WorkerRun(this.#options, this.#settings, this.#paces);
    this.#run = run;
    try {
      await run.register();
    } catch (error) {
      this.#run = undefined;
      throw error;
    }
    this.#ended = run.untilStopped();
  }

  async stop(): Promise<void> {
    const drained = this.#drains.stop();
    if (this.#run !== undefined) {
      this.#run.stop();
      await this.#ended;
      this.#run = undefined;
    }
    await drained;
  }

  async drain(limits: WorkerDrainLimits = {}): Promise<WorkerDrainReport> {
    checkDrain(limits);
    return this.#drains.of(this.#beginDrain(), (run) => run.drain(limits));
  }

  async #beginDrain(): Promise<WorkerRun<Tx>> {
    const slots = Math.max(1, Math.min(this.#settings.slots, mostSlots(this.#options.store)));
    const run = new WorkerRun(this.#options, { ...this.#settings, slots }, this.#paces);
    await run.register();
    return run;
  }
}

const SETTLE_BATCH = 50;
// So often a worker says that it is there: the word of its version counts for an hour, and an operator is told sooner.
const SAID_AGAIN_MS = 60_000;
// After a failure to say so, which stops nothing: the word counts for an hour.
const SAID_AGAIN_AFTER_FAILURE_MS = 5000;
const MOST_BYTES = 1_048_576;

/** One run of a worker, from its start to its stop: sequences, and claims, handles and settles in a loop. */
class WorkerRun<Tx> {
  readonly #store: WorkerStore<Tx> & Partial<NewestStore<Tx>>;
  readonly #settings: WorkerSettings;
  readonly #of: Claimable;
  readonly #run: RunLimits;
  readonly #runs: HandlerRuns<Tx>;
  readonly #loop: LaneLoop<Claim, ClaimResult>;
  readonly #heartbeat: Heartbeat;
  readonly #held = new Set<Claim>();
  /** Leased by transactions whose results are still to be settled. */
  readonly #leasedNext = new Set<Claim>();
  readonly #counts = { handled: 0, failed: 0 };
  readonly #others: OthersFirst;
  #registeredAt = -Infinity;
  #registering: Promise<void> | undefined;
  #drains = false;
  /** How often leases were given back after a lost answer, and how many such calls are under way. */
  readonly #releases = { begun: 0, underWay: 0 };
  /** Leased by answers that a release may have overtaken: given back under their epochs, and not begun. */
  readonly #doubtful = new WeakSet<Claim>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    options: WorkerOptions<Tx, TransactionMode>,
    settings: WorkerSettings,
    paces: Map<string, number>,
  ) {
    const { store, publisher } = options;
    const { clock, slots, pollMs, consumers } = settings;
    this.#store = store;
    this.#settings = settings;
    this.#others = new OthersFirst(clock);
    this.#of = { kind: "handler", ids: [...consumers.keys()] };
    // One claim is for all consumers: those without a batch get more than they use once, and from then on their own measure.
    const maxEvents = Math.max(...[...consumers.values()].map(({ mostEvents }) => mostEvents));
    this.#run = { maxEvents, maxBytes: MOST_BYTES };
    this.#loop = new LaneLoop({
      store,
      of: this.#of,
      work: {
        claim: ({ limit, alone }) => this.#claim(limit, alone),
        run: (claim) => this.#runOf(claim),
        settle: (results, asked) => this.#settle(results, asked),
        release: (held) => this.#release(() => [...held, ...this.#held]),
      },
      limits: { slots, pollMs, settleBatch: SETTLE_BATCH, longMs: settings.leaseMs },
      clock,
      observer: settings.observer,
    });
    this.#heartbeat = new Heartbeat({
      extend: (leases) => this.#extend(leases),
      clock,
      leaseMs: settings.leaseMs,
      failed: (operation, error) => this.#loop.failed(operation, error),
    });
    this.#runs = new HandlerRuns({
      store,
      publisher,
      settings,
      heartbeat: this.#heartbeat,
      worker: this.#loop.worker,
      run: this.#run,
      isStopping: () => this.#loop.isStopping,
      isContended: () => this.#loop.isContended,
      paces,
    });
  }

  async register(): Promise<void> {
    await this.#store.register([...this.#settings.consumers.values()].map(({ consumer }) => consumer));
    this.#registeredAt = this.#settings.clock.monotonic();
  }

  /** Whether a handler runs, or its end is being written. */
  get isBusy(): boolean {
    return this.#held.size > 0;
  }

  async untilStopped(): Promise<void> {
    await this.#loop.untilStopped();
    // The host closes its database when it has stopped.
    await this.#registering;
  }

  async drain({ deadlineMs }: WorkerDrainLimits): Promise<WorkerDrainReport> {
    this.#drains = true;
    if (deadlineMs !== undefined) this.#loop.after(deadlineMs, () => this.stop());
    const more = await this.#loop.drain();
    await this.#registering;
    return { ...this.#counts, more };
  }

  stop(): void {
    this.#loop.stop();
    this.#loop.after(this.#settings.stopGraceMs, () => this.#runs.stopLong());
  }

  /** `held` is asked in its turn: a claim before it may have leased more. */
  #release(held: () => readonly Claim[]): Promise<void> {
    return this.#inTurn(async () => {
      this.#releases.begun += 1;
      this.#releases.underWay += 1;
      try {
        await this.#store.release(this.#loop.worker, [...held(), ...this.#leasedNext]);
      } finally {
        this.#releases.underWay -= 1;
      }
    });
  }

  /** A release gives back all that it is not told of, also what a claim on its way has leased: never both at once. */
  #inTurn<T>(ask: () => Promise<T>): Promise<T> {
    const asked = this.#turn.then(ask);
    this.#turn = asked.catch(() => undefined);
    return asked;
  }

  async #runOf(claim: Claim): Promise<ClaimResult> {
    const { begun, underWay } = this.#releases;
    const ran = await this.#runs.run(claim);
    const { next } = ran;
    if (next === undefined) return ran;
    const mayBeReleased = underWay > 0 || this.#releases.underWay > 0 || this.#releases.begun > begun;
    // Another lane was leased by an answer that was still on its way: no list of what is held had it, and somebody else may
    // have it by now.
    if (mayBeReleased && (next.id !== claim.id || next.kind !== claim.kind)) this.#doubtful.add(next);
    this.#leasedNext.add(next);
    return ran;
  }

  async #claim(limit: number, alone: boolean) {
    const { leaseMs, clock } = this.#settings;
    this.#registerAgain();
    if (!this.#loop.isStopping) await this.#others.wait();
    const { claims, lapsed } = await this.#inTurn(async () => {
      const askedAt = clock.monotonic();
      const { worker } = this.#loop;
      const answer = await this.#store.claim({ of: this.#of, worker, limit, leaseMs, run: this.#run, alone });
      for (const claim of answer.claims) this.#hold(claim, askedAt);
      this.#others.claimed(answer.claims.length);
      return answer;
    });
    return { claims, lapsed, more: claims.length >= limit && !alone };
  }

  /** A worker whose slots are all in long handlers claims nothing for hours, and still is one. */
  async #extend(leases: readonly LeaseName[]): Promise<readonly boolean[]> {
    this.#registerAgain();
    return this.#store.extend(this.#loop.worker, leases, this.#settings.leaseMs);
  }

  /** Beside whatever else is done: where it fails, or waits, handlers go on and claims are made. */
  #registerAgain(): void {
    const { clock } = this.#settings;
    if (this.#registering !== undefined || clock.monotonic() - this.#registeredAt <= SAID_AGAIN_MS) return;
    this.#registering = this.register()
      .catch((error: unknown) => {
        this.#loop.failed("register", error);
        this.#registeredAt = clock.monotonic() - SAID_AGAIN_MS + SAID_AGAIN_AFTER_FAILURE_MS;
      })
      .finally(() => (this.#registering = undefined));
  }

  #hold(claim: Claim, askedAt: number): void {
    this.#held.add(claim);
    this.#heartbeat.leased(claim, askedAt);
  }

  /** Most results are settled already, by their own transaction; what failed, or is given back, is settled here. */
  async #settle(
    results: readonly ClaimResult[],
    { next }: AskedNext,
  ): Promise<readonly (Claim | undefined)[]> {
    const isWanted = (leased: Claim): boolean => next && !this.#doubtful.has(leased);
    const settlements = results.flatMap((result): readonly Settlement[] => {
      if (result.settlement !== undefined)
        return [{ ...result.settlement, next: next && this.#runs.keepsSlot(result.claim) }];
      // Leased by the transaction that has just committed, and not wanted any more.
      return result.next === undefined || isWanted(result.next) ? [] : [givenBack(result.next)];
    });
    const { leaseMs } = this.#settings;
    const request = { worker: this.#loop.worker, leaseMs, run: this.#run, settlements };
    const askedAt = this.#settings.clock.monotonic();
    const answers = (settlements.length === 0 ? [] : await this.#store.settle(request)).values();
    const nexts = results.map((result) => {
      if (result.settlement === undefined && (result.next === undefined || isWanted(result.next)))
        return result.next;
      const answer = answers.next().value;
      const leased = answer?.kind === "settled" ? answer.next : undefined;
      if (leased === undefined) return undefined;
      this.#heartbeat.leased(leased, askedAt);
      this.#runs.goesOn(result.claim, leased);
      return leased;
    });
    // Nobody knows whether its transaction has committed, and leased the lane's next head.
    if (results.some(({ lost }) => lost)) await this.#release(() => this.#heldAfter(results, nexts));
    // Not before all is done: the loop asks again where something failed, and what only the first answer has leased would
    // count as held for ever.
    for (const result of results) this.#account(result);
    for (const claim of nexts) if (claim !== undefined) this.#held.add(claim);
    return nexts;
  }

  #heldAfter(results: readonly ClaimResult[], nexts: readonly (Claim | undefined)[]): readonly Claim[] {
    const ended = new Set(results.map(({ claim }) => claim));
    const others = [...this.#held].filter((claim) => !ended.has(claim));
    return [...others, ...nexts.filter((claim) => claim !== undefined)];
  }

  #account({ claim, next, handled, failed, signal, isOthers }: ClaimResult): void {
    this.#held.delete(claim);
    if (next !== undefined) this.#leasedNext.delete(next);
    // A drain ends anyway when it has claimed what is due.
    if (isOthers && !this.#drains) this.#others.gaveBack();
    this.#counts.handled += handled;
    this.#counts.failed += failed;
    if (signal !== undefined) notify(this.#settings.observer, signal);
  }
}

function givenBack(claim: Claim): Settlement {
  return { claim, attempts: [], acknowledged: 0, rest: undefined, next: false };
}
