import { cursorOf, numbersOfCursor } from "../../../../operator/cursor.js";
import type { BlockedLane, BlockedState, Page, Paged } from "../../../../operator/operator-store.js";
import { headOf } from "../../lanes/lane-row.js";
import type { LaneRow } from "../../lanes/lane-row.js";
import type { MemoryParts } from "../../parts.js";
import { pageOf } from "./page.js";

/** A lane that does not move, and since when, by the monotonic clock. */
interface Blocked {
  readonly lane: LaneRow;
  readonly since: number;
  readonly state: BlockedState;
}

/** Longest blocked first. */
export function blockedLanes(parts: MemoryParts, { limit, after }: Page): Paged<BlockedLane> {
  const blocked = parts.lanes.waiting().flatMap((lane) => blockedOf(parts, lane) ?? []);
  const ordered = blocked.toSorted(
    (a, b) => Number(microseconds(a) - microseconds(b)) || Number(a.lane.id - b.lane.id),
  );
  const [since = -1n, id = 0n] = numbersOfCursor(after, 2) ?? [];
  const rest = ordered.filter((each) => {
    const at = microseconds(each);
    return at > since || (at === since && each.lane.id > id);
  });
  const page = pageOf(rest, limit, (last) => cursorOf(microseconds(last), last.lane.id));
  const now = parts.clock.monotonic();
  return { ...page, items: page.items.map((each) => seen(each, now)) };
}

// Cursors hold whole numbers, and the clock has fractions of milliseconds: what a page is cut by is also what it is sorted by.
function microseconds({ since }: Blocked): bigint {
  return BigInt(Math.max(0, Math.round(since * 1000)));
}

/** Since when a lane is blocked: since its head first failed; where it has not failed, since its endpoint stopped. */
export function blockedSince(
  { endpoints }: MemoryParts,
  { blockedAt, endpointId }: LaneRow,
): number | undefined {
  return blockedAt ?? endpoints.stoppedAt(endpointId);
}

/** Until the head's next attempt; 0 while one is under way. */
export function untilTried({ readyAt = 0, lease }: LaneRow, now: number): number {
  return lease === undefined ? Math.max(0, readyAt - now) : 0;
}

function blockedOf(parts: MemoryParts, lane: LaneRow): Blocked | undefined {
  const consumer = parts.endpoints.consumer(lane.endpointId);
  const since = blockedSince(parts, lane);
  if (lane.kind === "loose" || consumer === undefined || since === undefined) return undefined;
  if (lane.state !== "flowing") return { lane, since, state: lane.state };
  return { lane, since, state: consumer.state === "active" ? "retrying" : consumer.state };
}

function seen({ lane, since, state }: Blocked, now: number): BlockedLane {
  const { id, endpointId, key = "", head, end, failures } = lane;
  const { tenant, id: headEventId } = headOf(lane).event;
  const dueInMs = state === "retrying" ? untilTried(lane, now) : undefined;
  const waits = { depth: end - head, blockedMs: now - since, dueInMs };
  return { id, tenant, endpointId, key, state, head, headEventId, failures, ...waits };
}
