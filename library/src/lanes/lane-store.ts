import type { Wake } from "../work/wake.js";
import type { AttemptRecord } from "./attempt-record.js";
import type { DeadBecause, DeadPolicy } from "./dead.js";
import type { Receipt } from "../receipt.js";

/** One delivery of a claim: an event in its place. */
export interface ClaimedDelivery {
  /** Its place in the lane; 0 where there is no lane. */
  readonly sequence: bigint;
  /** 1, and one more with each redrive. */
  readonly round: number;
  readonly event: {
    readonly id: string;
    readonly tenant: string;
    readonly source: string;
    readonly type: string;
    readonly body: Uint8Array;
    readonly contentType: string;
    readonly time: Date;
    /** Of the event's own; undefined where it has none. */
    readonly headers?: Readonly<Record<string, string>> | undefined;
    /** Of an event that was stored for handlers; undefined of any other. */
    readonly receipt?: Receipt | undefined;
  };
  /** Until it expires, by the store's clock; 0 or less when it has. Undefined when it never does. */
  readonly expiresInMs: number | undefined;
}

/** What a worker has leased: one lane, or one delivery of an event that has no lane. */
export interface Claim {
  readonly kind: "lane" | "loose";
  /** The lane's id, or the loose delivery's. */
  readonly id: bigint;
  /** The lease's fence: whoever claims after it has a higher one. */
  readonly epoch: bigint;
  /** To whom the lane leads. `version` grows with each change of the consumer; `mark` is another one, where the store has it. */
  readonly consumer: {
    readonly id: string;
    readonly version: number;
    readonly mark?: string | undefined;
  };
  readonly lane: { readonly generation: bigint; readonly key: string } | undefined;
  /** The last sequence before the head that was not skipped; undefined where the lane starts here. */
  readonly after: bigint | undefined;
  /** In order, the head first; more than one only where a run is allowed (see `claim`). */
  readonly run: readonly [ClaimedDelivery, ...ClaimedDelivery[]];
  /** How many attempts of the head were made in this round, lapsed ones included. */
  readonly attempts: number;
  /** How many of them spent its retry budget. */
  readonly failures: number;
}

/** Whose lanes a worker takes: a dispatcher every endpoint's, a worker those of the handlers that it has. */
export type Claimable =
  | { readonly kind: "endpoint" }
  | { readonly kind: "handler"; readonly ids: readonly string[] };

/** What a dispatcher takes. */
export const ENDPOINTS: Claimable = Object.freeze({ kind: "endpoint" });

/** Whether a worker takes the lanes of a consumer. Postgres and SQLite say the same in SQL. */
export function isClaimable(
  of: Claimable,
  consumer: { readonly id: string; readonly kind?: "handler" },
): boolean {
  if (of.kind === "endpoint") return consumer.kind === undefined;
  return consumer.kind === "handler" && of.ids.includes(consumer.id);
}

/** What a worker asks for: how many lanes, for how long, and what it holds already. */
export interface ClaimRequest {
  readonly of: Claimable;
  /** Unique to this start of this process. */
  readonly worker: string;
  readonly limit: number;
  readonly leaseMs: number;
  /**
   * How many claims this worker holds, by consumer: each endpoint gets at most its `maxInFlight` less that. A handler has no
   * limit of its own: its worker asks for as many as it has free slots. @default none
   */
  readonly inFlight?: ReadonlyMap<string, number> | undefined;
  /** The most that this worker may hold of each consumer, where that is less than `maxInFlight`. @default no such limit */
  readonly shares?: Shares | undefined;
  readonly run: RunLimits;
  /** Asks for brief lanes and loose deliveries alone, which have turns of their own. @default false */
  readonly brief?: boolean | undefined;
  /** Asks for one claim that has lapsed `LAPSES_BEFORE_ALONE` times, and for nothing else. */
  readonly alone: boolean;
}

/** How many claims of a consumer a worker may hold at once; 0 where it must not get any. */
export interface Shares {
  /** By consumer. */
  readonly of: ReadonlyMap<string, number>;
  /** Of every consumer that `of` does not name. */
  readonly others: number;
}

/** How many more claims of a consumer a worker gets; a handler has no limit of its own. Postgres says the same in SQL. */
export function roomOf(
  { id, maxInFlight = Infinity }: { readonly id: string; readonly maxInFlight?: number },
  { inFlight, shares }: Pick<ClaimRequest, "inFlight" | "shares">,
): number {
  const share = shares === undefined ? maxInFlight : (shares.of.get(id) ?? shares.others);
  return Math.min(maxInFlight, share) - (inFlight?.get(id) ?? 0);
}

/** How much of a lane may be sent before it is settled. */
export interface RunLimits {
  readonly maxEvents: number;
  readonly maxBytes: number;
}

/** What a worker got of what it asked for. */
export interface ClaimAnswer {
  readonly claims: readonly Claim[];
  /** True when something due waits for a claim with `alone`. */
  readonly lapsed: boolean;
}

/** What becomes of the first delivery of a claim that was not acknowledged. */
export type NextState =
  /** Tried again later, at the head of its lane. `counts`: it spends one failure of its retry budget. */
  | { readonly state: "due"; readonly afterMs: number; readonly counts: boolean }
  | { readonly state: "dead"; readonly because: DeadBecause; readonly policy: DeadPolicy }
  | { readonly state: "cancelled"; readonly because: "expired" }
  /** The endpoint is disabled, and the delivery stays due. */
  | { readonly state: "disabled"; readonly because: string }
  /** The handler is paused for a time, and the delivery stays due; its attempt spends nothing of its retry budget. */
  | { readonly state: "paused"; readonly forMs: number; readonly because: string };

/** What a worker did with a claim. */
export interface Settlement {
  readonly claim: Pick<Claim, "kind" | "id" | "epoch" | "consumer" | "run">;
  /** In the order in which they were made; none when the claim is given back untried. */
  readonly attempts: readonly AttemptRecord[];
  /** How many deliveries were acknowledged, from the head on. */
  readonly acknowledged: number;
  /** Of the delivery after those; undefined when all of the run was acknowledged, or the rest was not tried. */
  readonly rest: NextState | undefined;
  /** Whether the worker would take the lane's next head. */
  readonly next: boolean;
}

/** What became of a settlement. */
export type Settled =
  /**
   * `next` is the lane's next head, leased under the next epoch. A store may give none where the endpoint was changed
   * since the claim, and none behind a head that an operator skipped meanwhile: the next claim has it then.
   */
  | { readonly kind: "settled"; readonly next: Claim | undefined }
  /** Another has claimed it since: nothing was changed. */
  | { readonly kind: "stale" };

/** What a worker reports of its claims, all in one step. */
export interface SettleRequest {
  readonly worker: string;
  readonly leaseMs: number;
  readonly run: RunLimits;
  readonly settlements: readonly Settlement[];
}

/** What a round of sequencing has done. */
export interface SequenceReport {
  /** How many events were given places, all of them or a part. */
  readonly events: number;
  /** How many deliveries of removed endpoints were cancelled. */
  readonly cancelled?: number | undefined;
  /** True when it stopped at its limit, or another process is at it. */
  readonly more: boolean;
}

/**
 * Where deliveries are ordered, claimed and settled. Each sentence is a case of the conformance kit, in the same words.
 * The store's clock decides what is due and when a lease ends.
 */
export interface LaneStore {
  readonly wake: Wake;
  /**
   * Gives every committed event a place at each consumer that matches it: in a lane the next sequence, without a gap.
   * Endpoints match what goes out, of their own tenant; handlers match what was stored for them, of every tenant, in lanes
   * of tenant, source and key. What was stored for handlers and no handler matches is set aside with an alarm, and takes
   * its place, in its order, when a handler is registered that matches it. A stored event whose receipt says where it
   * stands in the sequence of its key is held until the one before it has come, up to the number of events and the time
   * that it says; what was given up then, and that an event came after its place had been passed, is kept in its receipt.
   * If one event was committed before another was written, it comes first. An event with `deliverAt` takes its place
   * when it is due. An event that cannot be sequenced is set aside with an alarm, and stops no other. One call gives a
   * bounded number of places, tenants in turn; an event that has more is finished before a later one of its tenant begins.
   */
  sequence(): Promise<SequenceReport>;
  /**
   * Leases due lanes and loose deliveries, round robin over endpoints, longest waiting first within one; none twice
   * until its lease ends, and none of a consumer that is paused, disabled or full. Of a lane only the head is due.
   * Of an endpoint a worker gets no more than its share, less what it holds already. Of handlers it gets those that it
   * names, and no endpoint; a dispatcher gets endpoints, and no handler.
   * A brief claim gets loose deliveries and lanes that hold at most eight, and nothing else: endpoints whose backlogs are
   * longer do not stand before it.
   * A run is allowed when the head was never tried, its last claim was settled or released, and no run that lapsed held it.
   * A claim whose lease has ended writes a `lapsed` attempt, which spends no failure; a run that lapsed writes none.
   * A lapsed attempt starts at its lease's start and lasts as long as the lease. One that lapsed three times is claimed
   * alone; if that lapses too, it is dead. An attempt that returns ends the count of lapses.
   */
  claim(request: ClaimRequest): Promise<ClaimAnswer>;
  /**
   * Writes attempts and next states together, and returns the lane's next head, leased. A settlement whose claim has
   * passed to another changes nothing; one whose lease has ended and was claimed by nobody counts. An attempt that is
   * settled without a next state is counted, and its delivery is due at once. A settlement as disabled stops the endpoint
   * also where it is paused; one that is disabled keeps its first reason. A settlement as paused pauses the handler, as
   * `pauseHandler` does, in the same step.
   */
  settle(request: SettleRequest): Promise<readonly Settled[]>;
  /**
   * Gives back what this worker has leased and does not hold: after a lost answer, and at the end. Says how many. A head
   * that is to be skipped is skipped at once: nobody has it under way any more.
   */
  release(worker: string, held: readonly Pick<Claim, "kind" | "id">[]): Promise<number>;
  /**
   * Keeps leases for `leaseMs` from now, under the same epoch. False for each that another worker holds, or that was
   * released or settled: its holder stops. A lease that has ended and was claimed by nobody is extended. A lapse after an
   * extension starts at the lease's own start, and lasts until its end.
   */
  extend(
    worker: string,
    leases: readonly Pick<Claim, "kind" | "id" | "epoch">[],
    leaseMs: number,
  ): Promise<readonly boolean[]>;
  /**
   * Milliseconds until something is due or a lease ends, 0 when something is; undefined when nothing waits for its time.
   * Of those consumers alone whose lanes the worker takes: it would spin on the work of others. To a worker, also until
   * an event has been held for as long as it may.
   */
  untilDue(of: Claimable): Promise<number | undefined>;
}
