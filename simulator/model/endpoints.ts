import { changesOrder, orderRefused } from "../../library/src/outbox/endpoint.js";
import type { Endpoint, EndpointChange } from "../../library/src/outbox/endpoint.js";
import type { Model } from "./model.js";
import { laneKeyOf } from "./rows.js";

export function putEndpoint({ rows, clock }: Model, endpoint: Endpoint): void {
  const { id, state } = endpoint;
  rows.endpoints.set(id, endpoint);
  if (state === "active") rows.stoppedAt.delete(id);
  else if (!rows.stoppedAt.has(id)) rows.stoppedAt.set(id, clock.monotonic());
}

/** Returns the changed endpoint; undefined where there is none. */
export function changeEndpoint(model: Model, id: string, change: EndpointChange): Endpoint | undefined {
  const before = model.rows.endpoints.get(id);
  if (before === undefined) return undefined;
  if (changesOrder(before, change) && isAnyWaiting(model, id)) throw orderRefused(before, change);
  const changed = { ...before, ...change, id, tenant: before.tenant, version: before.version + 1 };
  putEndpoint(model, changed);
  return changed;
}

function isAnyWaiting({ rows }: Model, id: string): boolean {
  return [...rows.lanes.values()].some(
    ({ endpointId, kind, state, deliveries }) =>
      endpointId === id && deliveries.length > 0 && (kind === "lane" || state === "flowing"),
  );
}

/** Disables an endpoint whatever its state is; one that is disabled keeps its first reason. */
export function disableEndpoint(model: Model, id: string, because: string): void {
  const endpoint = model.rows.endpoints.get(id);
  if (endpoint !== undefined && endpoint.state !== "disabled")
    changeEndpoint(model, id, { state: "disabled", because });
}

/** Removes an endpoint; what waits for it is cancelled. */
export function removeEndpoint({ rows }: Model, endpointId: string): boolean {
  for (const lane of [...rows.lanes.values()].filter((each) => each.endpointId === endpointId)) {
    // What is dead has had its end.
    const waiting = lane.state === "flowing" ? lane.deliveries : lane.deliveries.slice(1);
    for (const { event } of waiting) {
      rows.cancelled.push({ endpointId, eventId: event.id, because: "endpoint_removed" });
    }
    rows.lanes.delete(laneKeyOf(lane));
    rows.laneOf.delete(`${endpointId} ${lane.key ?? ""}`);
    // A lane that is made anew must not be taken for the one that was removed.
    rows.generation += 1n;
  }
  for (const [id, { lane }] of rows.dead) if (lane.endpointId === endpointId) rows.dead.delete(id);
  rows.stoppedAt.delete(endpointId);
  return rows.endpoints.delete(endpointId);
}

/** In the order of their ids. */
export function sortedEndpoints({ rows }: Model): readonly Endpoint[] {
  return [...rows.endpoints.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
