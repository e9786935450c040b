import { LaneLoop } from "../lanes/lane-loop.js";
import { ENDPOINTS } from "../lanes/lane-store.js";
import type { Claim, ClaimRequest, RunLimits, Settled } from "../lanes/lane-store.js";
import { notify } from "../observer.js";
import { joinParties } from "../witness.js";
import { Drains } from "../work/drains.js";
import type { AskedNext } from "../work/work-loop.js";
import type { DeliveryStore } from "./delivery-store.js";
import { checkDispatcher } from "./dispatcher-options.js";
import type { DispatcherOptions, DispatcherSettings } from "./dispatcher-options.js";
import { createEgress } from "./egress/create-egress.js";
import type { Egress } from "./egress/egress.js";
import { ClaimTurns, fairAsk, generousAsk, SlotKeeping } from "./fair-share.js";
import type { Ask, Holding } from "./fair-share.js";
import { KnownEndpoints } from "./known-endpoints.js";
import { runClaim } from "./lane-run.js";
import type { HeldClaim, RunParts, RunResult } from "./lane-run.js";
import { Paces } from "./paces.js";

/** Delivers what was published. */
export interface Dispatcher {
  /** Begins to deliver in the background, until `stop`. Resolves when it has begun; throws where it cannot. */
  start(): Promise<void>;
  /** Finishes what is under way, drains included, and hands everything else over at once: nothing is sent twice because of it. */
  stop(): Promise<void>;
  /** Delivers what is due and returns: for cron and serverless functions. */
  drain(limits?: DrainLimits): Promise<DrainReport>;
}

/** Where a drain stops. */
export interface DrainLimits {
  /** About how many events to deliver; attempts that are under way by then are finished. @default no limit */
  readonly maxEvents?: number;
  /** After this time no attempt begins. @default no limit */
  readonly deadlineMs?: number;
}

/** What a drain has done. */
export interface DrainReport {
  readonly delivered: number;
  /** Attempts that were not acknowledged. */
  readonly failed: number;
  /** True when it stopped at a limit, and more may be due. */
  readonly more: boolean;
}

/**
 * Makes a dispatcher: it delivers what the sender of the same store has published.
 *
 * @example
 * const store = postgresStore({ client: pool });
 * const dispatcher = createDispatcher({ store });
 * await dispatcher.start();
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new OutboxDispatcher(options);
}

/** Opens an egress for each run, and closes it afterwards. */
class OutboxDispatcher implements Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #settings: DispatcherSettings;
  readonly #drains = new Drains<DispatcherRun>();
  #running: Promise<OpenRun> | undefined;
  #ended: Promise<void> | undefined;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#settings = checkDispatcher(options);
    joinParties(this, { kind: "dispatcher", store: options.store, clock: this.#settings.clock });
  }

  async start(): Promise<void> {
    if (this.#running !== undefined) return void (await this.#running);
    const running = this.#begin();
    this.#running = running;
    try {
      await running;
    } catch (error) {
      // Nothing runs: the next start tries again, and a stop has nothing to wait for.
      if (this.#running === running) this.#running = undefined;
      throw error;
    }
  }

  async #begin(): Promise<OpenRun> {
    const open = await this.#open();
    this.#ended = open.run.untilStopped().then(() => this.#close(open.egress));
    return open;
  }

  async stop(): Promise<void> {
    const drained = this.#drains.stop();
    const running = this.#running;
    if (running !== undefined) {
      (await running).run.stop();
      await this.#ended;
      this.#running = undefined;
    }
    await drained;
  }

  async drain(limits: DrainLimits = {}): Promise<DrainReport> {
    const opening = this.#open();
    try {
      return await this.#drains.of(
        opening.then(({ run }) => run),
        (run) => run.drain(limits),
      );
    } finally {
      const { egress } = await opening;
      await this.#close(egress);
    }
  }

  async #open(): Promise<OpenRun> {
    const { store, egress: given, guard } = this.#options;
    const egress = given ?? (await createEgress(guard && { guard }));
    return { egress, run: new DispatcherRun(store, egress, this.#settings) };
  }

  /** An egress that was handed in is its owner's to close. */
  async #close(egress: Egress): Promise<void> {
    if (egress !== this.#options.egress) await egress.close();
  }
}

interface OpenRun {
  readonly run: DispatcherRun;
  readonly egress: Egress;
}

type Wanted = Pick<ClaimRequest, "limit" | "shares" | "alone" | "brief">;

// More in one commit gain little, and each result waits for the slowest of them.
const SETTLE_BATCH = 200;
const RUN_LIMITS: RunLimits = { maxEvents: 8, maxBytes: 1_048_576 };

/** One run of the dispatcher, from its start to its stop: sequences, and claims, sends and settles in a loop. */
export class DispatcherRun {
  readonly #store: DeliveryStore;
  readonly #settings: DispatcherSettings;
  readonly #runParts: RunParts;
  readonly #endpoints: KnownEndpoints;
  readonly #loop: LaneLoop<HeldClaim, RunResult>;
  readonly #inFlight = new Map<string, number>();
  readonly #paces = new Paces();
  readonly #keeping = new SlotKeeping();
  // The last claim left something to others' turn, or could not ask for everybody: a slot that is kept may be missed.
  #leftSome = false;
  // What was asked for last, where less than that was found.
  #short: Ask | undefined;
  readonly #turns: ClaimTurns;
  readonly #counts = { delivered: 0, failed: 0 };
  #maxEvents = Infinity;

  constructor(store: DeliveryStore, egress: Egress, settings: DispatcherSettings) {
    const { clock, slots, pollMs } = settings;
    this.#store = store;
    this.#settings = settings;
    this.#runParts = { ...settings, egress, paces: this.#paces, isStopping: () => this.#loop.isStopping };
    this.#turns = new ClaimTurns(pollMs);
    this.#endpoints = new KnownEndpoints(store);
    this.#loop = new LaneLoop({
      store,
      of: ENDPOINTS,
      work: {
        claim: ({ alone }) => (alone ? this.#claimAlone() : this.#claimFairly()),
        run: (held) => runClaim(this.#runParts, held, this.#endpoints.get(held.claim.consumer.id)),
        settle: (results, asked) => this.#settle(results, asked),
        release: (held) => this.#release(held),
      },
      limits: { slots, pollMs, settleBatch: SETTLE_BATCH },
      clock,
      observer: settings.observer,
      onNews: () => this.#turns.news(),
    });
  }

  /** Delivers until `stop`. */
  untilStopped(): Promise<void> {
    return this.#loop.untilStopped();
  }

  /** Delivers what is due now. */
  async drain({ maxEvents = Infinity, deadlineMs }: DrainLimits): Promise<DrainReport> {
    this.#maxEvents = maxEvents;
    if (deadlineMs !== undefined) this.#loop.after(deadlineMs, () => this.stop());
    const more = await this.#loop.drain();
    return { ...this.#counts, more };
  }

  stop(): void {
    this.#loop.stop();
  }

  async #release(held: readonly HeldClaim[]): Promise<void> {
    await this.#store.release(
      this.#loop.worker,
      held.map(({ claim }) => claim),
    );
  }

  async #claimAlone() {
    return { ...(await this.#claim({ limit: 1, alone: true })), more: false };
  }

  /**
   * Everybody's share first. A claim that finds less than that leaves the rest to those that could use more: they get it
   * next. While more is due than there are slots, most claims are brief: a turn of all endpoints that have a backlog takes
   * minutes, and who has one event would wait for it.
   */
  async #claimFairly() {
    const holding = this.#holding();
    if (this.#turns.isBrief(this.#leftSome, this.#settings.clock.monotonic()))
      return this.#claimBrief(holding);
    const generous = this.#short && generousAsk(holding, this.#short);
    this.#short = undefined;
    const ask = generous ?? fairAsk(holding);
    if (ask === undefined) return { claims: [], lapsed: false, more: true };
    const answer = await this.#claim({ ...ask, alone: false });
    const full = answer.claims.length >= ask.limit;
    if (generous !== undefined) return { ...answer, more: full };
    this.#leftSome = full || ask.shares.others === 0;
    if (!full && generousAsk(this.#holding(), ask)) this.#short = ask;
    return { ...answer, more: full || this.#short !== undefined };
  }

  async #claimBrief(holding: Holding) {
    const ask = fairAsk(holding);
    if (ask === undefined) return { claims: [], lapsed: false, more: true };
    const answer = await this.#claim({ ...ask, alone: false, brief: true });
    this.#turns.wasBrief(answer.claims.length >= ask.limit);
    return { ...answer, more: true };
  }

  async #claim({ limit, shares, alone, brief }: Wanted) {
    const endsAt = this.#leaseEnd();
    const { claims, lapsed } = await this.#store.claim({
      of: ENDPOINTS,
      worker: this.#loop.worker,
      limit,
      leaseMs: this.#settings.leaseMs,
      inFlight: this.#inFlight,
      shares,
      run: this.#runLimits(),
      brief,
      alone,
    });
    await this.#endpoints.learn(claims);
    return { claims: claims.map((claim) => this.#hold(claim, endsAt)), lapsed };
  }

  #holding(): Holding {
    const now = this.#settings.clock.monotonic();
    const known = new Map<string, boolean>();
    const isQuick = (consumer: string): boolean => {
      const quick = known.get(consumer) ?? this.#paces.isQuick(consumer, now);
      known.set(consumer, quick);
      return quick;
    };
    return {
      slots: this.#settings.slots,
      inFlight: this.#inFlight,
      isQuick,
      quick: () => this.#paces.quick(now),
    };
  }

  async #settle(
    results: readonly RunResult[],
    { next, waiting }: AskedNext,
  ): Promise<readonly (HeldClaim | undefined)[]> {
    const goesOn = next && this.#counts.delivered < this.#maxEvents;
    const consumers = results.map(({ claim }) => claim.consumer.id);
    const others = { waiting: waiting || this.#leftSome, news: this.#turns.hasNews };
    const keeps = this.#keeping.decide(consumers, this.#holding(), others);
    const endsAt = this.#leaseEnd();
    const settled = await this.#store.settle({
      worker: this.#loop.worker,
      leaseMs: this.#settings.leaseMs,
      run: this.#runLimits(),
      // Named one by one: a copy by spreading costs Node as much as a signature.
      settlements: results.map(({ claim, attempts, acknowledged, rest }, index) => ({
        claim,
        attempts,
        acknowledged,
        rest,
        next: goesOn && keeps[index] === true,
      })),
    });
    const nexts = settled.map((each) => (each.kind === "settled" ? each.next : undefined));
    await this.#endpoints.learn(nexts.filter((each) => each !== undefined));
    results.forEach((result, index) => this.#account(result, settled[index]));
    if (this.#counts.delivered >= this.#maxEvents) this.stop();
    return nexts.map((claim) => claim && this.#hold(claim, endsAt));
  }

  /** Counted from before the store was asked: the store's lease ends later than this, never earlier. */
  #leaseEnd(): number {
    return this.#settings.clock.monotonic() + this.#settings.leaseMs;
  }

  #hold(claim: Claim, endsAt: number): HeldClaim {
    const { id } = claim.consumer;
    this.#inFlight.set(id, (this.#inFlight.get(id) ?? 0) + 1);
    return { claim, endsAt };
  }

  #account({ claim, attempts, acknowledged, rest }: RunResult, settled: Settled | undefined): void {
    const { id } = claim.consumer;
    const left = (this.#inFlight.get(id) ?? 1) - 1;
    if (left > 0) this.#inFlight.set(id, left);
    else this.#inFlight.delete(id);
    this.#counts.delivered += acknowledged;
    this.#counts.failed += attempts.length - acknowledged;
    if (settled?.kind !== "settled" || rest === undefined) return;
    const { observer } = this.#settings;
    if (rest.state === "dead") {
      const { because, policy } = rest;
      const { id: eventId = "", type = "" } = claim.run[acknowledged]?.event ?? {};
      notify(observer, { kind: "delivery_dead", endpoint: id, type, id: eventId, because, policy });
    } else if (rest.state === "disabled") {
      notify(observer, { kind: "endpoint_disabled", endpoint: id, because: rest.because });
    }
  }

  /** A drain of few events sends them one by one: a run could deliver more than it may. */
  #runLimits(): RunLimits {
    return this.#maxEvents < RUN_LIMITS.maxEvents ? { ...RUN_LIMITS, maxEvents: 1 } : RUN_LIMITS;
  }
}
