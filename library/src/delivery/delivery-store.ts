import type { LaneStore } from "../lanes/lane-store.js";
import type { Endpoint } from "../outbox/endpoint.js";

/** What the dispatcher needs of a store: the lanes, and the endpoints to which they lead. */
export interface DeliveryStore extends LaneStore {
  readEndpoints(ids: readonly string[]): Promise<readonly Endpoint[]>;
}
