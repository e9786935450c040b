import { isBrief } from "../../../lanes/brief.js";
import { runsAlone } from "../../../lanes/lane.js";
import { isClaimable, roomOf } from "../../../lanes/lane-store.js";
import type { Claim, Claimable, ClaimAnswer, ClaimRequest } from "../../../lanes/lane-store.js";
import type { Consumer } from "../../../outbox/fan-out.js";
import type { MemoryParts } from "../parts.js";
import { laneOf } from "./lane-row.js";
import type { LaneRow } from "./lane-row.js";
import { writeChange } from "./record-ended.js";
import { leaseRun } from "./run.js";

/** What is due at one consumer, longest waiting last, and how much of it this worker may have. */
interface Queue {
  readonly consumer: Consumer;
  readonly due: LaneRow[];
  room: number;
}

/** The consumer that was served last, by brief claims and by others: the next claim begins after it. */
export interface ClaimCursor {
  served: string;
  briefServed: string;
}

/** Leases what is due: one lane of each consumer in turn, so that one consumer's backlog does not take every place. */
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
      if (request.brief) cursor.briefServed = queue.consumer.id;
      else cursor.served = queue.consumer.id;
    }
  }
  return { claims, lapsed: !request.alone && dueLanes(parts, request.of).some(runsAlone) };
}

function claimNext(
  parts: MemoryParts,
  { consumer, due, room }: Queue,
  request: ClaimRequest,
): Claim | undefined {
  const row = room > 0 ? due.pop() : undefined;
  if (row === undefined) return undefined;
  const change = parts.rule.claimed(laneOf(row), { alone: request.alone, dead: consumer.dead });
  // Without a lease that has ended there is nothing to write, and a new time would send the lane to the back.
  if (row.lease !== undefined) writeChange(parts, row, change);
  return leaseRun(parts, row, change, request);
}

function queuesOf(parts: MemoryParts, cursor: ClaimCursor, request: ClaimRequest): readonly Queue[] {
  const served = request.brief ? cursor.briefServed : cursor.served;
  const due = dueLanes(parts, request.of)
    .filter((row) => !request.brief || isBrief(row))
    .toSorted((a, b) => (a.readyAt ?? 0) - (b.readyAt ?? 0))
    .toReversed();
  const sorted = parts.endpoints.consumers().filter((each) => isClaimable(request.of, each));
  const next = sorted.findIndex(({ id }) => id > served);
  const inTurn = next === -1 ? sorted : [...sorted.slice(next), ...sorted.slice(0, next)];
  return inTurn.map((consumer) => ({
    consumer,
    due: due.filter(({ endpointId }) => endpointId === consumer.id),
    room: roomOf(consumer, request),
  }));
}

function dueLanes({ clock, endpoints, lanes }: MemoryParts, of: Claimable): readonly LaneRow[] {
  const now = clock.monotonic();
  const isDue = ({ readyAt, endpointId }: LaneRow): boolean => {
    const consumer = endpoints.consumer(endpointId);
    if (consumer === undefined || !isClaimable(of, consumer)) return false;
    return readyAt !== undefined && readyAt <= now && endpoints.isActive(endpointId);
  };
  return lanes.waiting().filter(isDue);
}
