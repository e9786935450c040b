import type { BlockedLane, BlockedState, Page, Paged } from "../../../operator/operator-store.js";
import { headOf } from "../lanes/lane-row.js";
import type { LaneRow } from "../lanes/lane-row.js";
import type { MemoryParts } from "../parts.js";
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
  const ordered = blocked.toSorted((a, b) => a.since - b.since || Number(a.lane.id - b.lane.id));
  const [since = 0, id = 0] = (after ?? "").split("_").map(Number);
  const rest = ordered.filter((each) => each.since > since || (each.since === since && each.lane.id > id));
  const page = pageOf(after === undefined ? ordered : rest, limit, (last) => `${last.since}_${last.lane.id}`);
  const now = parts.clock.monotonic();
  return { ...page, items: page.items.map((each) => seen(each, now)) };
}

/** Since when a lane is blocked: by its head's first failure or by its endpoint's stop, whichever came first. */
export function blockedSince(
  { endpoints }: MemoryParts,
  { blockedAt, endpointId }: LaneRow,
): number | undefined {
  const stoppedAt = endpoints.stoppedAt(endpointId);
  if (blockedAt === undefined || stoppedAt === undefined) return blockedAt ?? stoppedAt;
  return Math.min(blockedAt, stoppedAt);
}

function blockedOf(parts: MemoryParts, lane: LaneRow): Blocked | undefined {
  const endpoint = parts.endpoints.get(lane.endpointId);
  const since = blockedSince(parts, lane);
  if (lane.kind === "loose" || endpoint === undefined || since === undefined) return undefined;
  if (lane.state !== "flowing") return { lane, since, state: lane.state };
  return { lane, since, state: endpoint.state === "active" ? "retrying" : endpoint.state };
}

function seen({ lane, since, state }: Blocked, now: number): BlockedLane {
  const { id, endpointId, key = "", head, end, failures, readyAt = 0 } = lane;
  const { tenant, id: headEventId } = headOf(lane).event;
  const dueInMs = state === "retrying" ? Math.max(0, readyAt - now) : undefined;
  const waits = { depth: end - head, blockedMs: now - since, dueInMs };
  return { id, tenant, endpointId, key, state, head, headEventId, failures, ...waits };
}
