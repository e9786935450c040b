import { parseDeliveryId } from "../../../lanes/delivery-id.js";
import type { LookupStore } from "../../../operator/lookup-store.js";
import type { OperatorStore } from "../../../operator/operator-store.js";
import type { Wake } from "../../../work/wake.js";
import type { OutboxSession } from "../outbox/session.js";
import { readAttempts, recordPlaceOf } from "./attempts.js";
import { blockedLanes } from "./blocked-lanes.js";
import { takeCensus } from "./census.js";
import { deadLetters } from "./dead-letters.js";
import { deliveriesOf, findDelivery } from "./deliveries.js";
import { findEvents, readEvent } from "./events.js";
import { findLane, findLanes } from "./lanes.js";
import { redriveDead } from "./redrive.js";
import { skipHead } from "./skip.js";

/** How a person looks and intervenes. */
export function createOperator(session: OutboxSession, wake: Wake): OperatorStore & LookupStore {
  return {
    blockedLanes: (page) => session.look(({ client, nowMs }) => blockedLanes(client, { ...page, nowMs })),
    deadLetters: (page) => session.look(({ client }) => deadLetters(client, page)),
    async redrive(deliveryId) {
      const redriven = await session.write((turn) => redriveDead(turn, deliveryId));
      wake.ring("committed");
      return redriven;
    },
    async skip(laneId, head) {
      const skipped = await session.write((turn) => skipHead(turn, laneId, head));
      wake.ring("committed");
      return skipped;
    },
    async attempts(deliveryId) {
      const place = parseDeliveryId(deliveryId);
      if (place === undefined) return [];
      return session.look(({ client }) => readAttempts(client, recordPlaceOf(place)));
    },
    events: (filter, page) => session.look(({ client }) => findEvents(client, filter, page)),
    event: (tenant, id) => session.look(({ client }) => readEvent(client, tenant, id)),
    deliveriesOf: (tenant, eventIds) => session.look((turn) => deliveriesOf(turn, tenant, eventIds)),
    delivery: (id) => session.look((turn) => findDelivery(turn, id)),
    lanes: (filter, page) => session.look((turn) => findLanes(turn, filter, page)),
    lane: (id) => session.look((turn) => findLane(turn, id)),
    census: () => session.look(takeCensus),
  };
}
