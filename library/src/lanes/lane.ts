import type { AttemptRecord } from "./attempt-record.js";
import type { DeadDelivery, DeadPolicy } from "./dead.js";
import type { HandlerPause } from "./handler-consumer.js";
import type { Claim, ClaimedDelivery, RunLimits, Settlement } from "./lane-store.js";

// The rule of a lane, written once. A store locks a row, asks one of these functions what becomes of it, and writes the
// answer in the same transaction. The functions are pure: instants enter as the lease that was read, durations leave as
// milliseconds from the store's own "now". A delivery without a lane is a lane of one: kind `loose`, head 0, end 1.

/** Lapses after which a claim runs with nothing beside it: what kills its process must not kill its neighbours. */
export const LAPSES_BEFORE_ALONE = 3;

export type LaneState = "flowing" | "halted" | "parked";

/** A lane as its store has read and locked it. */
export interface Lane {
  readonly kind: Claim["kind"];
  /** `halted` and `parked`: the head is dead. A dead loose delivery is `halted`. */
  readonly state: LaneState;
  readonly epoch: bigint;
  /** The sequence at the head. */
  readonly head: bigint;
  /** The first sequence that is free; equal to `head` where the lane is empty. */
  readonly end: bigint;
  /** The last sequence before the head that was acknowledged. */
  readonly last: bigint | undefined;
  /** The head's round. */
  readonly round: number;
  /** Attempts of the head in this round, lapsed ones included. */
  readonly attempts: number;
  /** Attempts that spent the head's retry budget. */
  readonly failures: number;
  /** Claims of the head in a row that ended by expiry. */
  readonly lapses: number;
  /** A run up to this sequence lapsed: one of its deliveries may be what killed the process. */
  readonly suspectUntil: bigint | undefined;
  /** An operator wants the head skipped unless the attempt under way succeeds. */
  readonly skipIntended: boolean;
  /** Whether the lane counts as blocked, because its head has failed. */
  readonly blocked: boolean;
  /** The lease that was written last and not ended by anybody; its time may be over. */
  readonly lease: Lease | undefined;
}

export interface Lease {
  readonly startedAt: Date;
  readonly durationMs: number;
  /** How many deliveries were leased together. */
  readonly run: number;
}

/** What a store writes. The lease of the row always ends with it, unless the store leases the lane again (`leasable`). */
export interface LaneChange extends Pick<
  Lane,
  "state" | "epoch" | "head" | "last" | "attempts" | "failures" | "lapses" | "suspectUntil" | "skipIntended"
> {
  /** Of the head that was read; where another delivery is the head now, that one keeps the round it has. */
  readonly round: number;
  /** When the head is due, from now on; undefined where nothing may be sent: the head is dead, or there is none. */
  readonly readyAfterMs: number | undefined;
  /** Since when the lane is blocked: as before, from now on, or not at all. */
  readonly blocked: "keep" | "now" | "clear";
  /** Attempts to record, in their order. */
  readonly tried: readonly AttemptRecord[];
  /** A dead letter to record. */
  readonly dead: DeadDelivery | undefined;
  /** A cancelled delivery to record. */
  readonly cancelled: CancelledDelivery | undefined;
  /** Why the consumer is to be disabled, whatever its state is now. */
  readonly disabled: string | undefined;
  /** For how long the consumer is to be paused, and why. */
  readonly paused: HandlerPause | undefined;
  /**
   * How much of the lane the asking worker may lease now: nothing, its head alone, or a run from its head on. A store
   * may leave it to the next claim. `leased` gives the epoch to write.
   */
  readonly leasable: "nothing" | "head" | "run";
}

/** A delivery that will never be made. */
export interface CancelledDelivery {
  readonly sequence: bigint;
  readonly because: "expired" | "skipped";
}

type Draft = { -readonly [Field in keyof LaneChange]: LaneChange[Field] };

/** What a claim makes of a lane whose turn it is. A lease that is still there has ended by expiry. */
export function claimed(
  lane: Lane,
  { alone, dead }: { readonly alone: boolean; readonly dead: DeadPolicy | undefined },
): LaneChange {
  const draft = unchanged(lane);
  if (lane.lease !== undefined) {
    endLapsed(draft, lane, lane.lease);
    if (lane.skipIntended) cancelHead(draft, "skipped");
    else if (runsAlone(lane)) killHead(draft, lane, expiredAlone(draft, dead ?? defaultPolicy(lane)));
  }
  settleReadiness(draft, lane);
  if (draft.readyAfterMs === 0 && runsAlone(draft) === alone) {
    // The claim after a lapse goes alone, whichever delivery of the run it was that killed the process.
    draft.leasable = lane.lease === undefined ? leasableOf(draft, lane) : "head";
  }
  return draft;
}

/** What a settlement makes of a lane; to be asked only where `isCurrent`. */
export function settled(
  lane: Lane,
  settlement: Pick<Settlement, "attempts" | "acknowledged" | "rest" | "next">,
  { active }: { readonly active: boolean },
): LaneChange {
  const draft = unchanged(lane);
  draft.tried = settlement.attempts;
  if (settlement.acknowledged > 0) Object.assign(draft, acknowledged(lane.head, settlement.acknowledged));
  if (draft.head < lane.end) settleHead(draft, lane, settlement);
  settleReadiness(draft, lane);
  // A lane that must run alone is not handed to a worker that has others under way; a loose delivery has no next one.
  const stopped = draft.disabled !== undefined || draft.paused !== undefined;
  const free = active && !stopped && !runsAlone(draft) && lane.kind === "lane";
  if (settlement.next && free && draft.readyAfterMs === 0) draft.leasable = leasableOf(draft, lane);
  return draft;
}

/**
 * What the acknowledgement of `count` deliveries makes of a lane. It is decided by the claim alone, so that it can be the
 * last statement of somebody else's transaction; only whether something waits behind it is arithmetic on the row.
 */
export function acknowledged(
  head: bigint,
  count: number,
): Omit<LaneChange, "epoch" | "round" | "suspectUntil" | "readyAfterMs" | "tried" | keyof Ended> {
  const next = head + BigInt(count);
  return { head: next, last: next - 1n, ...FRESH };
}

type Ended = Pick<LaneChange, "dead" | "cancelled" | "disabled" | "paused" | "leasable">;

/** A settlement counts while nobody else has claimed the lane; that its lease has run out changes nothing. */
export function isCurrent(
  lane: Pick<Lane, "epoch" | "head" | "lease">,
  claim: Pick<Claim, "epoch" | "run">,
): boolean {
  return lane.lease !== undefined && lane.epoch === claim.epoch && lane.head === claim.run[0].sequence;
}

/**
 * What an operator's skip makes of a lane. `unknown`: its head is another by now. `intended`: a worker has the head under
 * way, and only `skipIntended` is to be written. Where the lease has run out the skip takes effect at once, under a new
 * epoch: what the worker still says of it is stale.
 */
export function skipped(
  lane: Lane,
  { head, leaseHasEnded }: { readonly head: bigint; readonly leaseHasEnded: boolean },
): LaneChange | "intended" | "unknown" {
  if (lane.head !== head || lane.head === lane.end) return "unknown";
  if (lane.lease !== undefined && !leaseHasEnded) return "intended";
  const draft = unchanged(lane);
  if (lane.lease !== undefined) {
    endLapsed(draft, lane, lane.lease);
    draft.epoch += 1n;
  }
  // A dead head has its record, and stays a dead letter.
  if (lane.state === "flowing") cancelHead(draft, "skipped");
  else passHead(draft);
  settleReadiness(draft, lane);
  return draft;
}

/** Makes the dead head due again, in its place and in the next round; undefined where this is not the dead head. */
export function redriven(lane: Lane, sequence: bigint): LaneChange | undefined {
  if (lane.state === "flowing" || lane.head !== sequence) return undefined;
  const draft = unchanged(lane);
  Object.assign(draft, FRESH);
  draft.round += 1;
  settleReadiness(draft, lane);
  return draft;
}

/**
 * Makes a head that waits for the time of its next attempt due now: its failures and its retry budget stay. Undefined where
 * it waits for something else: it was never tried, somebody has it, or it is dead.
 */
export function retried(lane: Lane): LaneChange | undefined {
  const waits = lane.state === "flowing" && lane.head < lane.end && lane.attempts > 0;
  return waits && lane.lease === undefined ? unchanged(lane) : undefined;
}

/**
 * What becomes of a lane that would be leased, but its head has no event any more: somebody has deleted it. It can never be
 * sent, and is dead like any other delivery; the others of its lane, by the policy, wait or go on.
 */
export function withoutEvent(lane: Lane, change: LaneChange, dead: DeadPolicy | undefined): LaneChange {
  const draft: Draft = { ...change, leasable: "nothing" };
  const policy = dead ?? defaultPolicy(lane);
  killHead(draft, lane, { because: "event_missing", policy, attempts: draft.attempts, last: undefined });
  settleReadiness(draft, lane);
  return draft;
}

/** Gives a leased lane back untried. Under the next epoch: what its worker may still settle is stale. */
export function released(lane: Lane): LaneChange {
  const draft = unchanged(lane);
  draft.epoch += 1n;
  // No worker has the head under way any more, so the skip takes effect now.
  if (lane.skipIntended) cancelHead(draft, "skipped");
  settleReadiness(draft, lane);
  return draft;
}

/** Whether a delivery that is appended makes the lane due. In SQL: `state = 'flowing' and head_seq = next_seq`. */
export function arms(lane: Pick<Lane, "state" | "head" | "end">): boolean {
  return lane.state === "flowing" && lane.head === lane.end;
}

export function runsAlone({ lapses }: Pick<Lane, "lapses">): boolean {
  return lapses >= LAPSES_BEFORE_ALONE;
}

/** How many deliveries, of these sizes from the head on, make a run within the limits; at least the head. */
export function fittingRun(
  sizes: readonly number[],
  { maxEvents, maxBytes }: RunLimits,
  leasable: LaneChange["leasable"] = "run",
): number {
  const most = leasable === "run" ? Math.max(1, maxEvents) : 1;
  let bytes = 0;
  const over = sizes.slice(0, most).findIndex((size, index) => (bytes += size) > maxBytes && index > 0);
  return over === -1 ? Math.min(sizes.length, most) : over;
}

/** Who leases what: the parts of a claim that the rule does not decide. */
export interface LaneIdentity extends Pick<Claim, "kind" | "id" | "consumer" | "lane"> {}

/** The claim that a worker gets of a lane, under the epoch that its store writes with the lease. */
export function leased(
  { kind, id, consumer, lane }: LaneIdentity,
  { epoch, last, attempts, failures }: LaneChange,
  run: readonly [ClaimedDelivery, ...ClaimedDelivery[]],
): Claim {
  return { kind, id, epoch: epoch + 1n, consumer, lane, after: last, run, attempts, failures };
}

/** Starts a change: the same lane, its lease released. */
function unchanged(lane: Lane): Draft {
  const { state, epoch, head, last, round, attempts, failures, lapses, suspectUntil, skipIntended } = lane;
  return {
    state,
    epoch,
    head,
    last,
    round,
    attempts,
    failures,
    lapses,
    suspectUntil,
    skipIntended,
    readyAfterMs: 0,
    blocked: "keep",
    tried: [],
    dead: undefined,
    cancelled: undefined,
    disabled: undefined,
    paused: undefined,
    leasable: "nothing",
  };
}

/** What a delivery begins with that has just become the head, or begins a new round. */
const FRESH = {
  state: "flowing",
  attempts: 0,
  failures: 0,
  lapses: 0,
  skipIntended: false,
  blocked: "clear",
} as const satisfies Partial<LaneChange>;

/** Settles the first delivery that was not acknowledged. */
function settleHead(
  draft: Draft,
  lane: Lane,
  { attempts, rest }: Pick<Settlement, "attempts" | "rest">,
): void {
  const ofHead = attempts.filter(({ sequence }) => sequence === draft.head);
  draft.attempts += ofHead.length;
  if (ofHead.length > 0) {
    block(draft, lane);
    // It came back, so it kills no process: else it would run alone at every later retry, and its node would stand still.
    draft.lapses = 0;
  }
  if (rest?.state === "disabled") draft.disabled = rest.because;
  if (rest?.state === "paused") draft.paused = { forMs: rest.forMs, because: rest.because };
  // The attempt did not succeed, so the operator's skip holds.
  if (draft.skipIntended) return cancelHead(draft, "skipped");
  switch (rest?.state) {
    case "due":
      if (rest.counts) draft.failures += 1;
      draft.readyAfterMs = rest.afterMs;
      break;
    case "dead":
      // The last failure counts too: an operator would be shown one attempt fewer than were made.
      if (ofHead.length > 0) draft.failures += 1;
      killHead(draft, lane, {
        because: rest.because,
        policy: rest.policy,
        attempts: draft.attempts,
        last: ofHead.at(-1),
      });
      break;
    case "cancelled":
      cancelHead(draft, rest.because);
      break;
    case "disabled":
    case "paused":
    case undefined:
      break;
  }
}

/** The worker died or was too slow: nobody knows what came of the attempt. */
function endLapsed(draft: Draft, lane: Lane, lease: Lease): void {
  if (lease.run > 1) {
    // Any of them may have killed the process: none is charged, and up to here each is leased by itself.
    draft.suspectUntil = lane.head + BigInt(lease.run);
    return;
  }
  draft.lapses += 1;
  // No failure: a crash must not spend the retry budget of an innocent event.
  draft.attempts += 1;
  draft.tried = [lapsedAttempt(lane, lease, draft.attempts)];
  block(draft, lane);
}

function lapsedAttempt(
  { head, round }: Lane,
  { startedAt, durationMs }: Lease,
  number: number,
): AttemptRecord {
  const unknown = { status: undefined, error: undefined, answer: undefined };
  return { sequence: head, round, number, startedAt, durationMs, outcome: "lapsed", ...unknown };
}

function expiredAlone({ attempts }: Draft, policy: DeadPolicy): DeathOf {
  return { because: "lease_expired", policy, attempts, last: undefined };
}

function defaultPolicy({ kind }: Lane): DeadPolicy {
  return kind === "lane" ? "halt" : "skip";
}

interface DeathOf extends Omit<DeadDelivery, "sequence"> {
  readonly policy: DeadPolicy;
}

function killHead(draft: Draft, lane: Lane, { because, policy, attempts, last }: DeathOf): void {
  draft.dead = {
    sequence: draft.head,
    because,
    attempts,
    last: last && { status: last.status, error: last.error },
  };
  block(draft, lane);
  // A loose delivery stands in nobody's way: it stays where it is, whatever the policy.
  if (lane.kind === "loose" || policy === "halt") draft.state = "halted";
  else if (policy === "park") draft.state = "parked";
  else passHead(draft);
}

function cancelHead(draft: Draft, because: CancelledDelivery["because"]): void {
  draft.cancelled = { sequence: draft.head, because };
  passHead(draft);
}

/** The next delivery becomes the head, with nothing of what the last one went through. */
function passHead(draft: Draft): void {
  Object.assign(draft, { head: draft.head + 1n, ...FRESH });
}

/** The lane is blocked from the first failure of its head on. */
function block(draft: Draft, lane: Lane): void {
  if (draft.blocked === "clear" || !lane.blocked) draft.blocked = "now";
}

/** A lane that is empty, or stopped at its dead head, is not due. */
function settleReadiness(draft: Draft, { end }: Lane): void {
  if (draft.state !== "flowing" || draft.head >= end) draft.readyAfterMs = undefined;
}

/** A run is allowed where the head was never tried and no run that lapsed held it. */
function leasableOf({ head, attempts, suspectUntil }: Draft, { kind }: Lane): LaneChange["leasable"] {
  const suspect = suspectUntil !== undefined && head < suspectUntil;
  return kind === "loose" || attempts > 0 || suspect ? "head" : "run";
}
