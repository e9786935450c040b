import type { Claim, ClaimAnswer, ClaimRequest } from "../library/src/lanes/lane-store.js";
import type { Endpoint } from "../library/src/outbox/endpoint.js";
import { cancelHead, headOf, killHead, rest, take } from "./model-lanes.js";
import type { Model } from "./model-lanes.js";
import { deliveryNameOf } from "./model-rows.js";
import type { LaneRow, LeaseRow } from "./model-rows.js";

/** Leases what is due: one lane of each endpoint in turn, longest waiting first within one. */
export function claim(model: Model, request: ClaimRequest): ClaimAnswer {
  const limit = request.alone ? Math.min(1, request.limit) : request.limit;
  const due = dueLanes(model);
  const queues = endpointsInTurn(model).map((endpoint) => ({
    endpoint,
    lanes: due.filter(({ endpointId }) => endpointId === endpoint.id),
    room: endpoint.maxInFlight - (request.inFlight.get(endpoint.id) ?? 0),
  }));
  const claims: Claim[] = [];
  while (claims.length < limit && queues.some(({ room, lanes }) => room > 0 && lanes.length > 0)) {
    for (const queue of queues) {
      const lane = claims.length < limit && queue.room > 0 ? queue.lanes.shift() : undefined;
      const claimed = lane && claimLane(model, lane, request);
      if (claimed === undefined) continue;
      claims.push(claimed);
      queue.room -= 1;
      model.rows.served = queue.endpoint.id;
    }
  }
  return { claims, lapsed: !request.alone && dueLanes(model).some((lane) => model.rules.runsAlone(lane)) };
}

function dueLanes({ rows, rules, clock }: Model): LaneRow[] {
  const now = clock.monotonic();
  const due: LaneRow[] = [];
  for (const lane of rows.lanes.values()) {
    if (lane.readyAt === undefined || lane.readyAt > now) continue;
    if (rules.isActive(rows.endpoints.get(lane.endpointId))) due.push(lane);
  }
  return due.toSorted((a, b) => (a.readyAt ?? 0) - (b.readyAt ?? 0));
}

function endpointsInTurn({ rows }: Model): readonly Endpoint[] {
  const sorted = [...rows.endpoints.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const next = Math.max(
    0,
    sorted.findIndex(({ id }) => id > rows.served),
  );
  return [...sorted.slice(next), ...sorted.slice(0, next)];
}

function claimLane(model: Model, lane: LaneRow, request: ClaimRequest): Claim | undefined {
  const { lease } = lane;
  if (lease !== undefined) endLapsed(model, lane, lease);
  if (lane.readyAt === undefined || model.rules.runsAlone(lane) !== request.alone) return undefined;
  return take(model, lane, { taker: request, lastWasSettled: lease === undefined });
}

/** Its process died or was too slow; nobody knows what came of it. */
function endLapsed(model: Model, lane: LaneRow, lease: LeaseRow): void {
  const { clock, rows, rules } = model;
  if (lease.run > 1) lane.suspectUntil = lane.head + BigInt(lease.run);
  else chargeLapse(model, lane, lease);
  if (lane.skipIntended && rules.appliesIntent) cancelHead(model, lane, "skipped");
  else if (lane.lapses >= rules.fatalLapses) {
    const policy = rows.endpoints.get(lane.endpointId)?.dead ?? "halt";
    killHead(model, lane, { because: "lease_expired", policy });
  }
  rest(lane, clock.monotonic());
}

function chargeLapse({ rows, rules, clock }: Model, lane: LaneRow, lease: LeaseRow): void {
  lane.lapses += 1;
  lane.attempts += 1;
  if (rules.lapseSpendsFailure) lane.failures += 1;
  lane.blockedAt ??= clock.monotonic();
  const { sequence, round } = headOf(lane);
  const name = deliveryNameOf(lane, sequence);
  const startedAt = new Date(lease.startedAtMs);
  const nothing = { status: undefined, error: undefined, answer: undefined };
  const lapsed = { sequence, round, number: lane.attempts, startedAt, durationMs: lease.leaseMs };
  const known = rows.attempts.get(name) ?? [];
  known.push({ ...lapsed, outcome: "lapsed", ...nothing });
  rows.attempts.set(name, known);
}

/** Gives back what this worker has leased and does not hold, fenced: what it could not tell in time must not be told now. */
export function release(model: Model, worker: string, held: readonly Pick<Claim, "kind" | "id">[]): number {
  const { rows, rules, clock } = model;
  let freed = 0;
  for (const lane of rows.lanes.values()) {
    if (lane.lease?.worker !== worker) continue;
    const isHeld = held.some(({ kind, id }) => lane.kind === kind && lane.id === id);
    if (!rules.frees(lane, isHeld)) continue;
    lane.epoch += 1n;
    // Nobody has it under way any more that could still succeed.
    if (lane.skipIntended && rules.appliesIntent) cancelHead(model, lane, "skipped");
    rest(lane, clock.monotonic());
    freed++;
  }
  return freed;
}

/** Until something is due or a lease ends; undefined when nothing waits for its time. */
export function untilDue({ rows, rules, clock }: Model): number | undefined {
  const now = clock.monotonic();
  let least: number | undefined;
  const consider = (waitMs: number): void => {
    least = Math.min(least ?? Infinity, waitMs);
  };
  for (const { readyAt, endpointId } of rows.lanes.values()) {
    if (readyAt !== undefined && rules.isActive(rows.endpoints.get(endpointId))) consider(readyAt - now);
  }
  for (const { deliverAt } of rows.later) consider((deliverAt?.getTime() ?? 0) - clock.now());
  return least === undefined ? undefined : Math.max(0, Math.ceil(least));
}
