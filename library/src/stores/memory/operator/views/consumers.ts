import { consumerStanding } from "../../../../operator/inbox-view-store.js";
import type { ConsumerStanding } from "../../../../operator/inbox-view-store.js";
import type { MemoryParts } from "../../parts.js";
import { matchingDead } from "./dead-filter.js";
import { standingAt } from "./standings.js";

/** Every registered handler, and how much waits for it. */
export function consumers(parts: MemoryParts): readonly ConsumerStanding[] {
  return parts.endpoints.handlers().map((handler) => {
    const { id } = handler;
    const seenAt = parts.endpoints.seenAt(id);
    return consumerStanding(handler, {
      standing: standingAt(parts, id),
      seenAt: seenAt === undefined ? undefined : new Date(seenAt),
      dead: matchingDead(parts, { endpointId: id }).length,
    });
  });
}
