import type { DeadFilter } from "../../../../operator/dead-filter.js";
import type { DeadSummary } from "../../../../operator/dead-store.js";
import { MOST_SUMMED } from "../../../../operator/dead-store.js";
import type { MemoryParts } from "../../parts.js";
import { matchingDead } from "./dead-filter.js";

/** What the dead letters of a filter come to. */
export function deadSummary(parts: MemoryParts, filter: DeadFilter): DeadSummary {
  const all = matchingDead(parts, { ...filter, order: "oldest" });
  const rows = all.slice(0, MOST_SUMMED);
  const blocking = rows.filter(
    ({ lane, delivery }) =>
      lane.kind === "lane" && lane.state !== "flowing" && lane.head === delivery.sequence,
  );
  const endpoints = new Map<string, number>();
  for (const { lane } of rows) endpoints.set(lane.endpointId, (endpoints.get(lane.endpointId) ?? 0) + 1);
  const highest = rows.reduce((most, { number }) => Math.max(most, number), 0);
  return {
    count: rows.length,
    more: all.length > rows.length,
    upTo: rows.length === 0 ? undefined : BigInt(highest),
    lanes: new Set(rows.filter(({ lane }) => lane.kind === "lane").map(({ lane }) => lane)).size,
    blocking: blocking.length,
    waitingBehind: blocking.reduce((sum, { lane }) => sum + Number(lane.end - lane.head) - 1, 0),
    endpoints: [...endpoints].map(([endpointId, count]) => ({ endpointId, count })),
  };
}
