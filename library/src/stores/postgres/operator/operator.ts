import type { DeliveryPlace } from "../../../lanes/delivery-id.js";
import { parseDeliveryId } from "../../../lanes/delivery-id.js";
import type { LookupStore } from "../../../operator/lookup-store.js";
import type { OperatorStore } from "../../../operator/operator-store.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { readAttempts } from "./attempts.js";
import { listBlockedLanes } from "./blocked-lanes.js";
import { readCensus } from "./census.js";
import { listDeadLetters } from "./dead-letters.js";
import { listDeliveries, readDelivery } from "./deliveries.js";
import { listEvents, readEvent } from "./events.js";
import { listLanes, readLane } from "./lanes.js";
import { redrive } from "./redrive.js";
import { skip } from "./skip.js";

export interface OperatorParts extends StoreDatabase {
  /** Called when something was committed. */
  readonly committed: () => void;
}

/** How a person looks and intervenes. */
export function createOperator(parts: OperatorParts): OperatorStore & LookupStore {
  return {
    blockedLanes: (page) => listBlockedLanes(parts, page),
    deadLetters: (page) => listDeadLetters(parts, page),
    async redrive(deliveryId) {
      const place = placeOf(deliveryId);
      if (place === undefined) return "unknown";
      const redriven = await redrive(parts, place);
      if (redriven !== "unknown") parts.committed();
      return redriven;
    },
    async skip(laneId, head) {
      if (laneId > LAST_NUMBER) return "unknown";
      const skipped = await skip(parts, laneId, head);
      if (skipped === "skipped") parts.committed();
      return skipped;
    },
    async attempts(deliveryId) {
      const place = placeOf(deliveryId);
      return place === undefined ? [] : readAttempts(parts, place);
    },
    events: (filter, page) => listEvents(parts, filter, page),
    event: (tenant, id) => readEvent(parts, tenant, id),
    deliveriesOf: (tenant, eventIds) => listDeliveries(parts, tenant, eventIds),
    async delivery(id) {
      const place = placeOf(id);
      return place && readDelivery(parts, place);
    },
    lanes: (filter, page) => listLanes(parts, filter, page),
    lane: async (id) => (id > LAST_NUMBER ? undefined : readLane(parts, id)),
    census: () => readCensus(parts),
  };
}

const LAST_NUMBER = 2n ** 63n - 1n;

/** Undefined where the text is no delivery's id, or has a number that no row can have, of which Postgres would refuse the statement. */
function placeOf(deliveryId: string): DeliveryPlace | undefined {
  const place = parseDeliveryId(deliveryId);
  const numbers = place?.kind === "lane" ? [place.lane, place.sequence] : [place?.id ?? 0n];
  return numbers.some((number) => number > LAST_NUMBER) ? undefined : place;
}
