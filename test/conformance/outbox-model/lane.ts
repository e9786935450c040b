import type { Claim } from "../../../library/src/lanes/lane-store.js";
import { deliveryIn } from "../../../library/src/testing/conformance/outbox/steps.js";

// The rules of a lane, read a second time: short, by counting, and without a thought for speed.

export const LAPSES_ALLOWED = 3;

/** An event that waits in a lane. */
export interface Waiting {
  readonly eventId: string;
  readonly round: number;
}

/** One lane as the model sees it; a delivery without a lane is one without a key. Times are in ticks. */
export interface ModelLane {
  readonly endpointId: string;
  readonly key: string | undefined;
  queue: Waiting[];
  state: "flowing" | "halted" | "parked";
  readyAt: number;
  lease: { readonly claim: Claim; readonly worker: string; readonly until: number } | undefined;
  attempts: number;
  failures: number;
  lapses: number;
  skipIntended: boolean;
  /** Whether the head failed in a settlement, so that the lane is listed as blocked. */
  hasFailed: boolean;
  /** How many have left the lane: with the first sequence they say where the head is. */
  left: number;
  firstSequence: bigint | undefined;
  after: bigint | undefined;
  /** A run that lapsed held everything before this many had left. */
  suspectUntil: number;
  /** Whether the last claim was settled; where a store may see it either way, nothing is asked of its next run. */
  settled: boolean | "either";
  id: bigint | undefined;
}

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
    after: undefined,
    suspectUntil: 0,
    settled: true,
    id: undefined,
  };
}

const UNTRIED = { attempts: 0, failures: 0, lapses: 0, skipIntended: false, hasFailed: false };

export function append(lane: ModelLane, waiting: Waiting, now: number): void {
  if (lane.queue.length === 0) lane.readyAt = now;
  lane.queue.push(waiting);
}

export function isExpired({ lease }: ModelLane, now: number): boolean {
  return lease !== undefined && lease.until <= now;
}

export function isDue(lane: ModelLane, now: number): boolean {
  if (lane.queue.length === 0 || lane.state !== "flowing") return false;
  return lane.lease === undefined ? lane.readyAt <= now : isExpired(lane, now);
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

/** How many a claim of the lane may hold: exactly so many, or from one on where stores may differ. */
export function runLength(
  lane: ModelLane,
  maxEvents: number,
): { readonly most: number; readonly exact: boolean } {
  const most = Math.min(maxEvents, lane.queue.length);
  const alone = lane.attempts > 0 || lane.left < lane.suspectUntil || lane.settled === false;
  return { most: alone || lane.key === undefined ? 1 : most, exact: lane.settled !== "either" };
}

/** What a claim finds where a lease has ended. Says which delivery died of it. */
export function lapse(
  lane: ModelLane,
  note: (deliveryId: string, attempt: string) => void,
): Waiting | undefined {
  const { lease, queue } = lane;
  const [head] = queue;
  if (lease === undefined || head === undefined) return undefined;
  const wasAlone = lane.lapses >= LAPSES_ALLOWED;
  lane.lease = undefined;
  lane.settled = false;
  if (lease.claim.run.length > 1) {
    lane.suspectUntil = lane.left + lease.claim.run.length;
  } else {
    lane.lapses += 1;
    lane.attempts += 1;
    note(deliveryIn(lease.claim), `${head.round}.${lane.attempts} lapsed`);
  }
  if (lane.skipIntended) {
    pass(lane);
    lane.settled = "either";
    return undefined;
  }
  return wasAlone ? head : undefined;
}
