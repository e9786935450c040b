import type { DeliveryPlace } from "../../../lanes/delivery-id.js";
import { parseDeliveryId } from "../../../lanes/delivery-id.js";
import type { DeadStore, RedrivenRound } from "../../../operator/dead-store.js";
import type { LookupStore } from "../../../operator/lookup-store.js";
import type { Observer } from "../../../observer.js";
import type { OperatorStore, RetryTarget } from "../../../operator/operator-store.js";
import type { SetAsideStore } from "../../../operator/set-aside-store.js";
import type { ViewStore } from "../../../operator/view-store.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import type { InboxViewStore } from "../../../operator/inbox-view-store.js";
import type { HeldStore } from "../../../operator/held-store.js";
import type { ReplayStore } from "../../../operator/replay-store.js";
import { forgetEvent } from "./forget.js";
import { markStored, unhandled } from "./mark-stored.js";
import { markApplied, stageAgain } from "./stage-again.js";
import { listConsumers } from "./views/consumers.js";
import { listHeld, readHeldEvent } from "./views/held.js";
import { listInboxByPrefix, listInboxRows, readInboxFailures, readInboxRows } from "./views/inbox-rows.js";
import { listRefused } from "./views/refused.js";
import { readAttempts } from "./views/attempts.js";
import { listBlockedLanes } from "./views/blocked-lanes.js";
import { cancelLane } from "./cancel.js";
import { readCensus } from "./views/census.js";
import { listDeadGroups } from "./views/dead-groups.js";
import { listDeadLetters } from "./views/dead-letters.js";
import { readDeadSummary } from "./views/dead-summary.js";
import { listDeliveries, readDelivery } from "./views/deliveries.js";
import { readEnds } from "./views/ends.js";
import { listEventIds, listEvents, readEvent, readTenants } from "./views/events.js";
import { listLanes, readLane } from "./views/lanes.js";
import { readQueue } from "./views/queue.js";
import { redriveAll } from "./redrive.js";
import { readNamedEvents, readRepeats } from "./views/repeats.js";
import { releaseHeld } from "./release-held.js";
import { raiseGenerations } from "./raise-generations.js";
import { retryWaiting } from "./retry.js";
import type { WantedRetry } from "./retry.js";
import { listSetAside, redriveEvent } from "./set-aside.js";
import { skip } from "./skip.js";
import { readStandings } from "./views/standings.js";

export interface OperatorParts extends StoreDatabase {
  readonly observer: Observer | undefined;
  /** Called when something was committed. */
  readonly committed: () => void;
}

/** How a person looks and intervenes. */
export function createOperator(
  parts: OperatorParts,
): OperatorStore &
  DeadStore &
  SetAsideStore &
  LookupStore &
  ViewStore &
  InboxViewStore &
  HeldStore &
  ReplayStore {
  return {
    ...inboxViewsOf(parts),
    ...heldOf(parts),
    ...replaysOf(parts),
    blockedLanes: (page) => listBlockedLanes(parts, page),
    deadLetters: (page, filter) => listDeadLetters(parts, page, filter),
    deadGroups: (filter) => listDeadGroups(parts, filter),
    deadSummary: (filter) => readDeadSummary(parts, filter),
    async redrive(deliveryId) {
      const [redriven = "unknown"] = await redriveIn(parts, [{ id: deliveryId, round: undefined }]);
      return redriven === "before" ? "unknown" : redriven;
    },
    redriveAll: (letters) => redriveIn(parts, letters),
    async cancel(laneId, through) {
      if (laneId > LAST_NUMBER) return { kind: "unknown" };
      const cancelled = await cancelLane(parts, laneId, through);
      if (cancelled.kind === "cancelled") parts.committed();
      return cancelled;
    },
    async skip(laneId, head) {
      if (laneId > LAST_NUMBER) return "unknown";
      const skipped = await skip(parts, laneId, head);
      if (skipped === "skipped") parts.committed();
      return skipped;
    },
    async retry(target) {
      const wanted = wantedRetry(target);
      const count = wanted === undefined ? 0 : await retryWaiting(parts, wanted);
      if (count > 0) parts.committed();
      return count;
    },
    ...setAsidesOf(parts),
    raiseGenerations: () => raiseGenerations(parts),
    async attempts(deliveryId) {
      const place = placeOf(deliveryId);
      return place === undefined ? [] : readAttempts(parts, place);
    },
    ...lookupsOf(parts),
    standings: () => readStandings(parts),
    queue: async (laneId, part, limit) =>
      laneId > LAST_NUMBER ? [] : readQueue(parts, laneId, { part, limit }),
    async ends(deliveryId) {
      const place = placeOf(deliveryId);
      return place === undefined ? [] : readEnds(parts, place);
    },
    ...namesOf(parts),
  };
}

function lookupsOf(parts: OperatorParts): LookupStore {
  return {
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

type Names = Pick<ViewStore, "repeats" | "namedEvents" | "eventIds" | "tenantsOf">;

function namesOf(parts: OperatorParts): Names {
  return {
    repeats: (tenant, eventId) => readRepeats(parts, tenant, eventId),
    namedEvents: (tenant, names) => readNamedEvents(parts, tenant, names),
    eventIds: (tenant, prefix, limit) => listEventIds(parts, tenant, { prefix, limit }),
    tenantsOf: (eventId) => readTenants(parts, eventId),
  };
}

function replaysOf(parts: OperatorParts): ReplayStore {
  return {
    async stageAgain(wanted) {
      const staged = wanted.length === 0 ? [] : await stageAgain(parts, wanted);
      if (staged.includes("staged")) parts.committed();
      return staged;
    },
    unhandled: (tenant, eventIds, consumer) => unhandled(parts, { tenant, eventIds, consumer }),
    markStored: (tenant, eventId, consumer) => markStored(parts, { tenant, eventIds: [eventId], consumer }),
    markApplied: (row) => markApplied(parts, row),
    forgetEvent: (tenant, source, id) => forgetEvent(parts, { tenant, source, id }),
  };
}

function inboxViewsOf(parts: OperatorParts): InboxViewStore {
  return {
    inboxRows: (filter, page) => listInboxRows(parts, filter, page),
    inboxByPrefix: (prefix, page) => listInboxByPrefix(parts, prefix, page),
    inboxRowsOf: (tenant, source, id) => readInboxRows(parts, { tenant, source, id }),
    inboxFailures: (address) => readInboxFailures(parts, address),
    refusedEvents: (filter, page) => listRefused(parts, filter, page),
    consumers: () => listConsumers(parts),
  };
}

function heldOf(parts: OperatorParts): HeldStore {
  return {
    heldEvents: (filter, page) => listHeld(parts, filter, page),
    heldEvent: (tenant, eventId) => readHeldEvent(parts, tenant, eventId),
    async releaseHeld(tenant, eventId) {
      const released = await releaseHeld(parts, tenant, eventId);
      if (released.kind === "released") parts.committed();
      return released;
    },
  };
}

function setAsidesOf(parts: OperatorParts): SetAsideStore {
  return {
    setAside: (page) => listSetAside(parts, page),
    async redriveEvent(number) {
      if (number > LAST_NUMBER) return "unknown";
      const redriven = await redriveEvent(parts, number);
      if (redriven === "staged") parts.committed();
      return redriven;
    },
  };
}

/** Those whose ids are none are unknown. */
async function redriveIn(
  parts: OperatorParts,
  letters: readonly { readonly id: string; readonly round: number | undefined }[],
): Promise<readonly RedrivenRound[]> {
  const wanted = letters.map(({ id, round }) => ({ place: placeOf(id), round }));
  const known = wanted.flatMap(({ place, round }) => (place === undefined ? [] : [{ place, round }]));
  const redriven = known.length === 0 ? [] : await redriveAll(parts, known);
  if (redriven.some((each) => each === "in_place" || each === "at_end")) parts.committed();
  const answers = redriven[Symbol.iterator]();
  return wanted.map(({ place }) => (place === undefined ? "unknown" : (answers.next().value ?? "unknown")));
}

/** Undefined where the target has a number that no row can have. */
function wantedRetry(target: RetryTarget): WantedRetry | undefined {
  if ("endpointId" in target) return target;
  if ("laneId" in target) return target.laneId > LAST_NUMBER ? undefined : target;
  const place = placeOf(target.deliveryId);
  return place && { place };
}

const LAST_NUMBER = 2n ** 63n - 1n;

/** Undefined where the text is no delivery's id, or has a number that no row can have, of which Postgres would refuse the statement. */
function placeOf(deliveryId: string): DeliveryPlace | undefined {
  const place = parseDeliveryId(deliveryId);
  const numbers = place?.kind === "lane" ? [place.lane, place.sequence] : [place?.id ?? 0n];
  return numbers.some((number) => number > LAST_NUMBER) ? undefined : place;
}
