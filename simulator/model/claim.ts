import { isBrief } from "../../library/src/lanes/brief.js";
import { runsAlone } from "../../library/src/lanes/lane.js";
import { isClaimable, roomOf } from "../../library/src/lanes/lane-store.js";
import type { Claim, Claimable, ClaimAnswer, ClaimRequest } from "../../library/src/lanes/lane-store.js";
import type { Endpoint } from "../../library/src/outbox/endpoint.js";
import { laneOf, lease, write } from "./lanes.js";
import type { Model } from "./model.js";
import { laneKeyOf } from "./rows.js";
import type { LaneRow } from "./rows.js";

/** Leases what is due: one lane of each endpoint in turn, longest waiting first within one. */
export function claim(model: Model, request: ClaimRequest): ClaimAnswer {
  const limit = request.alone ? Math.min(1, request.limit) : request.limit;
  const due = dueLanes(model, request.of).filter((row) => request.brief !== true || isBrief(laneOf(row)));
  const queues = endpointsInTurn(model).map((endpoint) => ({
    endpoint,
    lanes: due.filter(({ endpointId }) => endpointId === endpoint.id),
    room: roomOf(endpoint, request),
  }));
  const claims: Claim[] = [];
  while (claims.length < limit && queues.some(({ room, lanes }) => room > 0 && lanes.length > 0)) {
    for (const queue of queues) {
      const row = claims.length < limit && queue.room > 0 ? queue.lanes.shift() : undefined;
      const claimed = row && claimLane(model, row, { request, endpoint: queue.endpoint });
      if (claimed === undefined) continue;
      claims.push(claimed);
      queue.room -= 1;
      model.rows.served = queue.endpoint.id;
    }
  }
  return { claims, lapsed: !request.alone && dueLanes(model, request.of).some(runsAlone) };
}

function dueLanes({ rows, rules, clock }: Model, of: Claimable): LaneRow[] {
  const now = clock.monotonic();
  const due: LaneRow[] = [];
  for (const row of rows.lanes.values()) {
    if (row.readyAt === undefined || row.readyAt > now) continue;
    const endpoint = rows.endpoints.get(row.endpointId);
    if (endpoint !== undefined && isClaimable(of, endpoint) && rules.isActive(endpoint)) due.push(row);
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

function claimLane(
  model: Model,
  row: LaneRow,
  { request, endpoint }: { readonly request: ClaimRequest; readonly endpoint: Endpoint },
): Claim | undefined {
  const change = model.rules.lane.claimed(laneOf(row), { alone: request.alone, dead: endpoint.dead });
  if (row.lease !== undefined) write(model, row, change);
  return lease(model, row, change, request);
}

/** Gives back what this worker has leased and does not hold. */
export function release(model: Model, worker: string, held: readonly Pick<Claim, "kind" | "id">[]): number {
  let freed = 0;
  for (const row of model.rows.lanes.values()) {
    if (row.lease?.worker !== worker) continue;
    const isHeld = held.some(({ kind, id }) => row.kind === kind && row.id === id);
    if (!model.rules.frees(isHeld)) continue;
    write(model, row, model.rules.lane.released(laneOf(row)));
    freed++;
  }
  return freed;
}

/** Keeps leases for `leaseMs` from now on, under the same epoch. */
export function extend(
  { rows, rules, clock }: Model,
  worker: string,
  {
    leases,
    leaseMs,
  }: { readonly leases: readonly Pick<Claim, "kind" | "id" | "epoch">[]; readonly leaseMs: number },
): readonly boolean[] {
  const endsAt = rules.leaseEnd(clock.monotonic(), leaseMs);
  return leases.map((each) => {
    const row = rows.lanes.get(laneKeyOf(each));
    if (row?.lease?.worker !== worker || row.epoch !== each.epoch) return false;
    const durationMs = row.lease.durationMs + endsAt - row.lease.endsAt;
    row.lease = { ...row.lease, durationMs, endsAt };
    row.readyAt = endsAt;
    return true;
  });
}

/** Until something is due or a lease ends; undefined when nothing waits for its time. */
export function untilDue({ rows, rules, clock }: Model, of: Claimable): number | undefined {
  const now = clock.monotonic();
  let least: number | undefined;
  const consider = (waitMs: number): void => {
    least = Math.min(least ?? Infinity, waitMs);
  };
  for (const { readyAt, endpointId } of rows.lanes.values()) {
    const endpoint = rows.endpoints.get(endpointId);
    if (endpoint === undefined || !isClaimable(of, endpoint)) continue;
    if (readyAt !== undefined && rules.isActive(endpoint)) consider(readyAt - now);
  }
  for (const { deliverAt } of rows.later) consider((deliverAt?.getTime() ?? 0) - clock.now());
  return least === undefined ? undefined : Math.max(0, Math.ceil(least));
}
