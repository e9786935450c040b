import type { HandlerRemoval, HandlerRemoved } from "../../../lanes/handler-consumer.js";
import type { CancelledBecause } from "../lanes/history.js";
import type { MemoryParts } from "../parts.js";

/** Removes an endpoint with its lanes; what waits for it is cancelled. False where there is none. */
export function removeEndpoint(parts: MemoryParts, id: string): boolean {
  cancelAll(parts, id, "endpoint_removed");
  return parts.endpoints.remove(id);
}

/** The same of a handler, unless a worker has it. */
export function removeHandler(
  parts: MemoryParts,
  id: string,
  { unseenForMs }: HandlerRemoval,
): HandlerRemoved {
  const { clock, endpoints } = parts;
  if (endpoints.handlers().every((handler) => handler.id !== id)) return "unknown";
  const seenAt = endpoints.seenAt(id) ?? Number.NEGATIVE_INFINITY;
  if (clock.now() - seenAt < unseenForMs) return "seen";
  cancelAll(parts, id, "consumer_removed");
  endpoints.removeHandler(id);
  return "removed";
}

function cancelAll({ clock, history, lanes }: MemoryParts, id: string, because: CancelledBecause): void {
  const at = new Date(clock.now());
  for (const lane of lanes.remove(id)) {
    const hasDeadHead = lane.state !== "flowing";
    for (const delivery of lane.deliveries.values()) {
      // A dead head has its record, and is cancelled no more.
      if (hasDeadHead && delivery.sequence === lane.head) continue;
      history.addCancelled(lane, delivery, { because, at });
    }
  }
  history.resolveAllDead(id, at);
  history.closeCancelled(id);
}
