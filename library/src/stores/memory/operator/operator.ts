import type { LookupStore } from "../../../operator/lookup-store.js";
import type { OperatorStore } from "../../../operator/operator-store.js";
import type { Publications } from "../outbox/publications.js";
import type { MemoryParts } from "../parts.js";
import { blockedLanes } from "./blocked-lanes.js";
import { census } from "./census.js";
import { deadLetters } from "./dead-letters.js";
import { deliveriesOf, delivery } from "./deliveries.js";
import { event, events } from "./events.js";
import { lane, lanes } from "./lanes.js";
import { redrive } from "./redrive.js";
import { skip } from "./skip.js";

/** The verbs by which a person looks and intervenes. */
export function createOperator(parts: MemoryParts, publications: Publications): OperatorStore & LookupStore {
  const rung = <T>(answer: T): Promise<T> => {
    parts.wake.ring("committed");
    return Promise.resolve(answer);
  };
  return {
    blockedLanes: (page) => Promise.resolve(blockedLanes(parts, page)),
    deadLetters: (page) => Promise.resolve(deadLetters(parts, page)),
    redrive: (deliveryId) => rung(redrive(parts, deliveryId)),
    skip: (laneId, head) => rung(skip(parts, laneId, head)),
    attempts: (deliveryId) => Promise.resolve(parts.history.attempts(deliveryId)),
    events: (filter, page) => Promise.resolve(events(parts, filter, page)),
    event: (tenant, id) => Promise.resolve(event(parts, tenant, id)),
    deliveriesOf: (tenant, eventIds) => Promise.resolve(deliveriesOf(parts, tenant, eventIds)),
    delivery: (id) => Promise.resolve(delivery(parts, id)),
    lanes: (filter, page) => Promise.resolve(lanes(parts, filter, page)),
    lane: (id) => Promise.resolve(lane(parts, id)),
    census: () => Promise.resolve(census(parts, publications.waiting)),
  };
}
