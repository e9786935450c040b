import type { EndpointStanding } from "../../../operator/view-store.js";
import type { LaneRow } from "../lanes/lane-row.js";
import type { MemoryParts } from "../parts.js";

/** How much waits at each endpoint. */
export function standings({ clock, endpoints, lanes }: MemoryParts): readonly EndpointStanding[] {
  const now = clock.monotonic();
  const byEndpoint = new Map<string, LaneRow[]>();
  for (const lane of lanes.waiting()) {
    // A loose delivery that is dead waits for nobody.
    if (lane.kind === "loose" && lane.state !== "flowing") continue;
    byEndpoint.set(lane.endpointId, [...(byEndpoint.get(lane.endpointId) ?? []), lane]);
  }
  return [...byEndpoint]
    .flatMap(([endpointId, rows]) => {
      const endpoint = endpoints.get(endpointId);
      return endpoint === undefined ? [] : [standingOf(endpointId, endpoint.tenant, { rows, now })];
    })
    .toSorted((one, other) => (one.endpointId < other.endpointId ? -1 : 1));
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
