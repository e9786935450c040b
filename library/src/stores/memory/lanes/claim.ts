import { runsAlone } from "../../../lanes/lane.js";
import { roomOf } from "../../../lanes/lane-store.js";
import type { Claim, ClaimAnswer, ClaimRequest } from "../../../lanes/lane-store.js";
import type { Endpoint } from "../../../outbox/endpoint.js";
import type { MemoryParts } from "../parts.js";
import { laneOf } from "./lane-row.js";
import type { LaneRow } from "./lane-row.js";
import { writeChange } from "./record-ended.js";
import { leaseRun } from "./run.js";

/** What is due at one endpoint, longest waiting last, and how much of it this worker may have. */
interface Queue {
  readonly endpoint: Endpoint;
  readonly due: LaneRow[];
  room: number;
}

/** The endpoint that was served last: the next claim begins after it. */
export interface ClaimCursor {
  served: string;
}

/** Leases what is due: one lane of each endpoint in turn, so that one endpoint's backlog does not take every place. */
export function claim(parts: MemoryParts, cursor: ClaimCursor, request: ClaimRequest): ClaimAnswer {
  const limit = request.alone ? Math.min(1, request.limit) : request.limit;
  const claims: Claim[] = [];
  const queues = queuesOf(parts, cursor, request);
  while (claims.length < limit && queues.some(({ room, due }) => room > 0 && due.length > 0)) {
    for (const queue of queues) {
      const claimed = claims.length < limit ? claimNext(parts, queue, request) : undefined;
      if (claimed === undefined) continue;
      claims.push(claimed);
      queue.room -= 1;
      cursor.served = queue.endpoint.id;
    }
  }
  return { claims, lapsed: !request.alone && dueLanes(parts).some(runsAlone) };
}

function claimNext(
  parts: MemoryParts,
  { endpoint, due, room }: Queue,
  request: ClaimRequest,
): Claim | undefined {
  const row = room > 0 ? due.pop() : undefined;
  if (row === undefined) return undefined;
  const change = parts.rule.claimed(laneOf(row), { alone: request.alone, dead: endpoint.dead });
  // Without a lease that has ended there is nothing to write, and a new time would send the lane to the back.
  if (row.lease !== undefined) writeChange(parts, row, change);
  return leaseRun(parts, row, change, request);
}

function queuesOf(parts: MemoryParts, { served }: ClaimCursor, request: ClaimRequest): readonly Queue[] {
  const due = dueLanes(parts)
    .toSorted((a, b) => (a.readyAt ?? 0) - (b.readyAt ?? 0))
    .toReversed();
  const sorted = parts.endpoints.sorted();
  const next = sorted.findIndex(({ id }) => id > served);
  const inTurn = next === -1 ? sorted : [...sorted.slice(next), ...sorted.slice(0, next)];
  return inTurn.map((endpoint) => ({
    endpoint,
    due: due.filter(({ endpointId }) => endpointId === endpoint.id),
    room: roomOf(endpoint, request),
  }));
}

function dueLanes({ clock, endpoints, lanes }: MemoryParts): readonly LaneRow[] {
  const now = clock.monotonic();
  const isDue = ({ readyAt, endpointId }: LaneRow): boolean =>
    readyAt !== undefined && readyAt <= now && endpoints.isActive(endpointId);
  return lanes.waiting().filter(isDue);
}
