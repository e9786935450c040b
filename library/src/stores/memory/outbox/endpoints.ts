import { endpointOfCursor } from "../../../operator/cursor.js";
import type { Endpoint } from "../../../outbox/endpoint.js";
import { changesOrder, orderRefused } from "../../../outbox/endpoint.js";
import type { OutboxStore } from "../../../outbox/outbox-store.js";
import type { MemoryTx } from "../client/transaction.js";
import type { MemoryParts } from "../parts.js";
import type { Publications } from "./publications.js";
import { removeEndpoint } from "./remove-endpoint.js";

type EndpointVerbs = Pick<
  OutboxStore<MemoryTx, "asynchronous">,
  "addEndpoint" | "changeEndpoint" | "removeEndpoint" | "readEndpoints" | "listEndpoints"
>;

/** The verbs of endpoints. What was published before a change takes its places first, by the old patterns. */
export function createEndpoints(parts: MemoryParts, publications: Publications): EndpointVerbs {
  const { endpoints, wake } = parts;
  return {
    addEndpoint(endpoint) {
      publications.placeDue();
      if (endpoints.get(endpoint.id) !== undefined) return Promise.resolve(false);
      endpoints.put(endpoint);
      return Promise.resolve(true);
    },
    changeEndpoint(id, change) {
      publications.placeDue();
      const before = endpoints.get(id);
      if (before !== undefined && changesOrder(before, change) && isAnyWaiting(parts, id)) {
        return Promise.reject(orderRefused(before, change));
      }
      const changed = endpoints.change(id, change);
      wake.ring("committed");
      return Promise.resolve(changed && structuredClone(changed));
    },
    removeEndpoint(id) {
      publications.placeDue();
      return Promise.resolve(removeEndpoint(parts, id));
    },
    readEndpoints(ids) {
      const found = endpoints.sorted().filter(({ id }) => ids.includes(id));
      return Promise.resolve(structuredClone(found));
    },
    listEndpoints({ tenant, after, limit }) {
      const listed = (last: string): readonly Endpoint[] =>
        endpoints.sorted().filter((each) => each.id > last && (tenant ?? each.tenant) === each.tenant);
      return Promise.resolve().then(() =>
        structuredClone(listed(endpointOfCursor(after) ?? "").slice(0, limit)),
      );
    },
  };
}

/** Whether anything waits for it: a lane whose head is dead waits for a person, a dead delivery without a lane for nobody. */
function isAnyWaiting({ lanes }: MemoryParts, id: string): boolean {
  return lanes
    .waiting()
    .some(({ endpointId, kind, state }) => endpointId === id && (kind === "lane" || state === "flowing"));
}
