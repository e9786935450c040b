import type { Claim } from "../../../library/src/lanes/lane-store.js";

// The rules of a lane, read a second time from spec/states.md: short, by counting, and without a thought for speed. Nothing
// of library/src/lanes/lane.ts is imported here: a mistake in the rule must not be a mistake in its test.

export const LAPSES_ALLOWED = 3;

/** An event that waits in a lane. Times are in ticks. */
export interface Waiting {
  readonly eventId: string;
  readonly round: number;
  readonly expiresAt: number | undefined;
}

export interface ModelLease {
  readonly claim: Claim;
  readonly worker: string;
  readonly since: number;
  until: number;
}

/** One lane as the model sees it; a delivery without a lane is one without a key. Times are in ticks. */
export interface ModelLane {
  readonly endpointId: string;
  readonly key: string | undefined;
  queue: Waiting[];
  state: "flowing" | "halted" | "parked";
  readyAt: number;
  lease: ModelLease | undefined;
  attempts: number;
  failures: number;
  lapses: number;
  skipIntended: boolean;
  /** When the head first failed or lapsed. */
  blockedAt: number | undefined;
  /** How many have left the lane: with the first sequence they say where the head is. */
  left: number;
  /** Known from the first claim on, as is its id. */
  firstSequence: bigint | undefined;
  id: bigint | undefined;
  after: bigint | undefined;
  /** A run that lapsed held everything before this many had left. */
  suspectUntil: number;
}

const UNTRIED = { attempts: 0, failures: 0, lapses: 0, skipIntended: false, blockedAt: undefined };

export function emptyLane(endpointId: string, key: string | undefined): ModelLane {
  return {
    endpointId,
    key,
    queue: [],
    state: "flowing",
    readyAt: 0,
    lease: undefined,
    ...UNTRIED,
    left: 0,
    firstSequence: undefined,
    id: undefined,
    after: undefined,
    suspectUntil: 0,
  };
}

export function append(lane: ModelLane, waiting: Waiting, now: number): void {
  if (lane.queue.length === 0) lane.readyAt = now;
  lane.queue.push(waiting);
}

export function isExpired({ lease }: ModelLane, now: number): boolean {
  return lease !== undefined && lease.until <= now;
}

/** In ticks from now, 0 or less when it is due; undefined where nothing may be sent. */
export function dueIn({ queue, state, lease, readyAt }: ModelLane, now: number): number | undefined {
  if (queue.length === 0 || state !== "flowing") return undefined;
  return (lease?.until ?? readyAt) - now;
}

export function headSequence({ key, firstSequence, left }: ModelLane): bigint | undefined {
  if (key === undefined) return 0n;
  return firstSequence === undefined ? undefined : firstSequence + BigInt(left);
}

/** The head has left: acknowledged, dead and skipped, or cancelled. */
export function pass(lane: ModelLane, acknowledged = false): void {
  if (acknowledged) lane.after = headSequence(lane);
  lane.queue.shift();
  lane.left += 1;
  lane.state = "flowing";
  Object.assign(lane, UNTRIED);
}

/** The dead head begins a new round where it stands. */
export function revive(lane: ModelLane, now: number): void {
  const [head, ...others] = lane.queue;
  if (head === undefined) return;
  lane.queue = [{ ...head, round: head.round + 1 }, ...others];
  lane.state = "flowing";
  lane.readyAt = now;
  Object.assign(lane, UNTRIED);
}

/** How many deliveries a claim of the lane holds. */
export function runLength(lane: ModelLane, maxEvents: number): number {
  const alone = lane.key === undefined || lane.attempts > 0 || lane.left < lane.suspectUntil;
  return alone ? 1 : Math.min(maxEvents, lane.queue.length);
}

/** The lease has ended, and nobody knows what came of it. True when that is an attempt of the head. */
export function lapse(lane: ModelLane, now: number): boolean {
  const { claim } = lane.lease ?? {};
  lane.lease = undefined;
  lane.readyAt = now;
  if (claim === undefined || claim.run.length > 1) {
    lane.suspectUntil = lane.left + (claim?.run.length ?? 0);
    return false;
  }
  lane.lapses += 1;
  lane.attempts += 1;
  lane.blockedAt ??= now;
  return true;
}
