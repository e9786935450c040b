import type { LaneSummary } from "../../../../operator/lookup-store.js";
import { numberOfCursor } from "../../../../operator/cursor.js";
import type { Page, Paged } from "../../../../operator/operator-store.js";
import { headOf, isEmpty } from "../../lanes/lane-row.js";
import type { LaneRow } from "../../lanes/lane-row.js";
import type { MemoryParts } from "../../parts.js";
import { blockedSince, untilTried } from "./blocked-lanes.js";
import { pageOf } from "./page.js";

/** Lanes in which something waits, in the order of their ids. */
export function lanes(
  parts: MemoryParts,
  { endpointId }: { readonly endpointId?: string | undefined },
  { limit, after }: Page,
): Paged<LaneSummary> {
  const from = numberOfCursor(after) ?? 0n;
  const waiting = parts.lanes
    .waiting()
    .filter((row) => row.kind === "lane" && (endpointId ?? row.endpointId) === row.endpointId)
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const page = pageOf(
    waiting.filter(({ id }) => id > from),
    limit,
    ({ id }) => String(id),
  );
  return { ...page, items: page.items.map((each) => summaryOf(parts, each)) };
}

export function lane(parts: MemoryParts, id: bigint): LaneSummary | undefined {
  const row = parts.lanes.find("lane", id);
  return row === undefined || isEmpty(row) ? undefined : summaryOf(parts, row);
}

function summaryOf(parts: MemoryParts, row: LaneRow): LaneSummary {
  const { clock, endpoints } = parts;
  const { id, endpointId, key = "", head, end, failures } = row;
  const now = clock.monotonic();
  const since = blockedSince(parts, row);
  const state = stateOf(row, endpoints.consumer(endpointId)?.state ?? "active");
  const isMoving = state === "flowing" || state === "retrying";
  const { tenant } = headOf(row).event;
  const blockedMs = since === undefined ? undefined : now - since;
  const dueInMs = isMoving ? untilTried(row, now) : undefined;
  return { id, tenant, endpointId, key, state, depth: end - head, head, failures, blockedMs, dueInMs };
}

function stateOf(
  { state, blockedAt }: LaneRow,
  endpoint: "active" | "paused" | "disabled",
): LaneSummary["state"] {
  if (state !== "flowing") return state;
  if (endpoint !== "active") return endpoint;
  return blockedAt === undefined ? "flowing" : "retrying";
}
