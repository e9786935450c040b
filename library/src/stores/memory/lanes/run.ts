import { fittingRun, leased } from "../../../lanes/lane.js";
import type { LaneChange } from "../../../lanes/lane.js";
import type { Claim, ClaimedDelivery, RunLimits } from "../../../lanes/lane-store.js";
import type { MemoryParts } from "../parts.js";
import { claimedOf } from "./lane-row.js";
import type { LaneRow } from "./lane-row.js";

/** Who leases a lane, for how long and how much of it. */
export interface Taker {
  readonly worker: string;
  readonly leaseMs: number;
  readonly run: RunLimits;
}

/** Leases as much of a lane as the rule allows; undefined where it allows nothing. */
export function leaseRun(
  { clock, endpoints, lanes }: MemoryParts,
  row: LaneRow,
  change: LaneChange,
  { worker, leaseMs, run: limits }: Taker,
): Claim | undefined {
  if (change.leasable === "nothing") return undefined;
  const { kind, id, endpointId, key, generation } = row;
  const waiting = [...row.deliveries.values()].slice(0, Math.max(1, limits.maxEvents));
  const sizes = waiting.map(({ event }) => event.body.length);
  const run = waiting.slice(0, fittingRun(sizes, limits, change.leasable));
  const claimed = run.map((each) => claimedOf(each, clock.now()));
  const consumer = { id: endpointId, version: endpoints.consumer(endpointId)?.version ?? 0 };
  const lane = key === undefined ? undefined : { generation, key };
  const claim = leased({ kind, id, consumer, lane }, change, claimed as [ClaimedDelivery]);
  lanes.lease(row, claim.epoch, {
    worker,
    startedAt: new Date(clock.now()),
    durationMs: leaseMs,
    endsAt: clock.monotonic() + leaseMs,
    run: run.length,
  });
  return claim;
}
