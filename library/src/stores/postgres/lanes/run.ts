import type { Claim, ClaimedDelivery, RunLimits } from "../../../lanes/lane-store.js";
import type { LaneChange } from "../../../lanes/lane.js";
import { fittingRun, leased } from "../../../lanes/lane.js";
import type { LockedLane } from "./lane-row.js";

export type Run = readonly [ClaimedDelivery, ...ClaimedDelivery[]];

/** A locked lane, what the rule makes of it, and what is leased of it now. */
export interface Turn {
  readonly locked: LockedLane;
  readonly change: LaneChange;
  readonly run: Run | undefined;
  /** To be written: of the lease where there is one. */
  readonly epoch: bigint;
}

// A lease raises the epoch by a random number. Raised by one, the epoch of a lease that a failover lost would be given
// again, to a lane that has another event at its head by then; what the first worker says of its own would settle that.
const MOST_RAISED = 2 ** 31;

export function raise(): bigint {
  return 1n + BigInt(Math.floor(Math.random() * MOST_RAISED));
}

/** Leases as much as the rule allows, of what was read from the head on; where that is nothing, the next claim has it. */
export function turnOf(locked: LockedLane, change: LaneChange, limits: RunLimits): Turn {
  const run = change.leasable === "nothing" ? undefined : runOf(locked, change, limits);
  return { locked, change, run, epoch: run ? change.epoch + raise() : change.epoch };
}

/** The lane is written as the rule says, and leased by nobody. */
export function unleasedTurn(locked: LockedLane, change: LaneChange): Turn {
  return { locked, change, run: undefined, epoch: change.epoch };
}

function runOf(
  { deliveries }: LockedLane,
  { head, leasable }: LaneChange,
  limits: RunLimits,
): Run | undefined {
  const waiting = deliveries.filter(({ sequence }) => sequence >= head);
  // Where a body was not read, the run ends before it.
  const gap = waiting.findIndex(({ sequence }, n) => sequence !== head + BigInt(n));
  const unbroken = gap === -1 ? waiting : waiting.slice(0, gap);
  const sizes = unbroken.map(({ event }) => event.body.length);
  const [first, ...others] = unbroken.slice(0, fittingRun(sizes, limits, leasable));
  return first && [first, ...others];
}

/** What the worker gets; undefined where nothing is leased. */
export function claimOf({ locked, change, run, epoch }: Turn): Claim | undefined {
  return run && { ...leased(locked.identity, change, run), epoch };
}
