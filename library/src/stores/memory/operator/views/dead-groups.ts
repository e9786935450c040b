import type { DeadGroupFilter } from "../../../../operator/dead-filter.js";
import type { DeadGroup } from "../../../../operator/dead-store.js";
import type { MemoryParts } from "../../parts.js";
import { matchingDead } from "./dead-filter.js";

/** Dead letters that died alike, largest group first. */
export function deadGroups(parts: MemoryParts, filter: DeadGroupFilter): readonly DeadGroup[] {
  const groups = new Map<string, DeadGroup>();
  for (const { lane, delivery, because, last, diedAt } of matchingDead(parts, {
    ...filter,
    order: "oldest",
  })) {
    const { endpointId } = lane;
    const { status, error } = last ?? { status: undefined, error: undefined };
    const name = JSON.stringify([endpointId, because, status, error]);
    const known = groups.get(name);
    groups.set(name, {
      // A handler belongs to no tenant.
      tenant: parts.endpoints.get(endpointId) === undefined ? "" : delivery.event.tenant,
      endpointId,
      because,
      status,
      error,
      count: (known?.count ?? 0) + 1,
      firstAt: known?.firstAt ?? new Date(diedAt),
      lastAt: new Date(diedAt),
    });
  }
  return [...groups.values()].toSorted((a, b) => b.count - a.count);
}
