import type { ConsumerStanding } from "../../../operator/inbox-view-store.js";
import { waitingOf } from "../../../operator/view-store.js";
import type { MemoryParts } from "../parts.js";
import { matchingDead } from "./dead-filter.js";
import { standingAt } from "./standings.js";

/** Every registered handler, and how much waits for it. */
export function consumers(parts: MemoryParts): readonly ConsumerStanding[] {
  return parts.endpoints.handlers().map(({ id, sources, order, versions, state, because, pausedUntil }) => {
    const seenAt = parts.endpoints.seenAt(id);
    return {
      id,
      sources: [...sources],
      order,
      versions: versions.map(({ types, at }) => ({ types: [...types], at: new Date(at) })),
      state,
      because,
      pausedUntil,
      seenAt: seenAt === undefined ? undefined : new Date(seenAt),
      ...waitingOf(standingAt(parts, id)),
      dead: matchingDead(parts, { endpointId: id }).length,
    };
  });
}
