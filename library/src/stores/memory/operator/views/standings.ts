import type { EndpointStanding } from "../../../../operator/view-store.js";
import type { LaneRow } from "../../lanes/lane-row.js";
import type { MemoryParts } from "../../parts.js";

/** How much waits at each endpoint. */
export function standings(parts: MemoryParts): readonly EndpointStanding[] {
  const { endpoints } = parts;
  const ids = new Set(waiting(parts).map(({ endpointId }) => endpointId));
  return [...ids]
    .filter((id) => endpoints.get(id) !== undefined)
    .map((id) => standingAt(parts, id))
    .toSorted((one, other) => (one.endpointId < other.endpointId ? -1 : 1));
}

/** How much waits at one consumer. */
export function standingAt(parts: MemoryParts, id: string): EndpointStanding {
  const rows = waiting(parts).filter(({ endpointId }) => endpointId === id);
  return standingOf(id, parts.endpoints.get(id)?.tenant ?? "", { rows, now: parts.clock.monotonic() });
}

// A loose delivery that is dead waits for nobody.
function waiting({ lanes }: MemoryParts): readonly LaneRow[] {
  return lanes.waiting().filter(({ kind, state }) => kind !== "loose" || state === "flowing");
}

function standingOf(
  endpointId: string,
  tenant: string,
  { rows, now }: { readonly rows: readonly LaneRow[]; readonly now: number },
): EndpointStanding {
  const stuck = rows.filter(({ kind, blockedAt }) => kind === "lane" && blockedAt !== undefined);
  const stopped = rows.filter(({ state }) => state !== "flowing");
  const times = rows.flatMap(({ readyAt, lease, blockedAt }) => [
    ...(blockedAt === undefined ? [] : [now - blockedAt]),
    ...(readyAt !== undefined && lease === undefined && readyAt <= now ? [now - readyAt] : []),
  ]);
  return {
    endpointId,
    tenant,
    waiting: depth(rows),
    haltedLanes: stopped.filter(({ state }) => state === "halted").length,
    parkedLanes: stopped.filter(({ state }) => state === "parked").length,
    retryingLanes: stuck.filter(({ state }) => state === "flowing").length,
    blocked: depth(stopped),
    oldestMs: times.length === 0 ? undefined : Math.max(...times),
    exact: true,
  };
}

function depth(rows: readonly LaneRow[]): number {
  return rows.reduce((sum, { head, end }) => sum + Number(end - head), 0);
}
