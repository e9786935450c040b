import type { MemoryParts } from "../parts.js";

/** Removes an endpoint with its lanes; what waits for it is cancelled. False where there is none. */
export function removeEndpoint({ clock, endpoints, history, lanes }: MemoryParts, id: string): boolean {
  const at = new Date(clock.now());
  for (const lane of lanes.remove(id)) {
    const hasDeadHead = lane.state !== "flowing";
    for (const delivery of lane.deliveries.values()) {
      // A dead head has its record, and is cancelled no more.
      if (hasDeadHead && delivery.sequence === lane.head) continue;
      history.addCancelled(lane, delivery, { because: "endpoint_removed", at });
    }
  }
  history.resolveAllDead(id, at);
  return endpoints.remove(id);
}
