import type { DeadStore } from "../../../operator/dead-store.js";
import type { LookupStore } from "../../../operator/lookup-store.js";
import type { OperatorStore } from "../../../operator/operator-store.js";
import type { SetAsideStore } from "../../../operator/set-aside-store.js";
import type { ViewStore } from "../../../operator/view-store.js";
import { numberOfCursor } from "../../../operator/cursor.js";
import type { Publications } from "../outbox/publications.js";
import type { MemoryParts } from "../parts.js";
import type { InboxViewStore } from "../../../operator/inbox-view-store.js";
import type { HeldStore } from "../../../operator/held-store.js";
import type { ReplayStore } from "../../../operator/replay-store.js";
import { forgetEvent } from "./forget.js";
import { markStored, unhandled } from "./mark-stored.js";
import { markApplied, stageAgain } from "./stage-again.js";
import type { AcceptParts } from "../inbox/accept.js";
import type { RefusedEvent } from "../inbox/inbox.js";
import { textOf } from "../inbox/inbox-row.js";
import { consumers } from "./views/consumers.js";
import { heldEvent, heldEvents } from "./views/held.js";
import { inboxByPrefix, inboxRows, inboxRowsOf, refusedEvents } from "./views/inbox-rows.js";
import { blockedLanes } from "./views/blocked-lanes.js";
import { cancelLane } from "./cancel.js";
import { census } from "./views/census.js";
import { deadGroups } from "./views/dead-groups.js";
import { deadLetters } from "./views/dead-letters.js";
import { deadSummary } from "./views/dead-summary.js";
import { deliveriesOf, delivery } from "./views/deliveries.js";
import { event, events, readTenants, findEventIds } from "./views/events.js";
import { lane, lanes } from "./views/lanes.js";
import { queue } from "./views/queue.js";
import { redrive, redriveAll } from "./redrive.js";
import { retry } from "./retry.js";
import { skip } from "./skip.js";
import { standings } from "./views/standings.js";

/** The verbs by which a person looks and intervenes. */
export function createOperator(
  parts: MemoryParts,
  publications: Publications,
): OperatorStore & DeadStore & SetAsideStore & LookupStore & ViewStore {
  const rung = <T>(answer: T): Promise<T> => {
    parts.wake.ring("committed");
    return Promise.resolve(answer);
  };
  return {
    blockedLanes: (page) => asked(() => blockedLanes(parts, page)),
    deadLetters: (page, filter) => asked(() => deadLetters(parts, page, filter)),
    deadGroups: (filter) => Promise.resolve(deadGroups(parts, filter)),
    deadSummary: (filter) => Promise.resolve(deadSummary(parts, filter)),
    redrive: (deliveryId) => rung(redrive(parts, deliveryId)),
    redriveAll: (letters) => rung(redriveAll(parts, letters)),
    cancel: (laneId, through) => rung(cancelLane(parts, laneId, through)),
    skip: (laneId, head) => rung(skip(parts, laneId, head)),
    retry: (target) => rung(retry(parts, target)),
    // Nothing here can be refused its places.
    setAside: ({ after }) => asked(() => (numberOfCursor(after), { items: [], next: undefined })),
    redriveEvent: () => Promise.resolve("unknown"),
    raiseGenerations: () => Promise.resolve(parts.lanes.raiseAll(BigInt(Math.floor(parts.clock.now())))),
    attempts: (deliveryId) => Promise.resolve(parts.history.attempts(deliveryId)),
    events: (filter, page) => asked(() => events(parts, filter, page)),
    event: (tenant, id) => Promise.resolve(event(parts, tenant, id)),
    deliveriesOf: (tenant, eventIds) => Promise.resolve(deliveriesOf(parts, tenant, eventIds)),
    delivery: (id) => Promise.resolve(delivery(parts, id)),
    lanes: (filter, page) => asked(() => lanes(parts, filter, page)),
    lane: (id) => Promise.resolve(lane(parts, id)),
    census: () =>
      Promise.resolve(
        census(parts, {
          staged: publications.waiting,
          held: publications.holds.count,
          setAside: publications.unclaimed,
        }),
      ),
    standings: () => Promise.resolve(standings(parts)),
    queue: (laneId, part, limit) => Promise.resolve(queue(parts, laneId, { part, limit })),
    ends: (deliveryId) => Promise.resolve(parts.history.ends(deliveryId)),
    repeats: (tenant, eventId) => Promise.resolve(parts.repeats.of(tenant, eventId)),
    namedEvents: (tenant, names) => Promise.resolve(parts.names.idsOf(tenant, names)),
    tenantsOf: (eventId) => Promise.resolve(readTenants(parts, eventId)),
    eventIds: (tenant, prefix, limit) => Promise.resolve(findEventIds(parts, tenant, { prefix, limit })),
  };
}

/** What lets events be handled again. */
export function createReplays(parts: MemoryParts, inbox: AcceptParts): ReplayStore {
  return {
    stageAgain(wanted) {
      const staged = stageAgain(parts, inbox, wanted);
      parts.wake.ring("committed");
      return Promise.resolve(staged);
    },
    markApplied: (row) => Promise.resolve(markApplied(inbox, row)),
    unhandled: (tenant, eventIds, consumer) =>
      Promise.resolve(eventIds.flatMap((eventId) => unhandled(parts, inbox, { tenant, eventId, consumer }))),
    markStored: (tenant, eventId, consumer) =>
      Promise.resolve(markStored(parts, inbox, { tenant, eventId, consumer })),
    forgetEvent: (tenant, source, id) => Promise.resolve(forgetEvent(parts, inbox, { tenant, source, id })),
  };
}

/** What a person sees of events that wait for others of their key. */
export function createHeldViews(parts: MemoryParts, publications: Publications): HeldStore {
  return {
    heldEvents: (filter, page) => asked(() => heldEvents(parts, publications, { filter, page })),
    heldEvent: (tenant, eventId) => Promise.resolve(heldEvent(parts, publications, { tenant, eventId })),
    releaseHeld(tenant, eventId) {
      const found = parts.events.find(tenant, eventId).at(-1);
      const released = found && publications.holds.release(found);
      if (released === undefined) return Promise.resolve({ kind: "unknown" });
      parts.wake.ring("committed");
      return Promise.resolve({ kind: "released", ...released });
    },
  };
}

/** What a person sees of the inbox. */
export function createInboxViews(
  parts: MemoryParts,
  { rows, failures }: AcceptParts,
  refused: () => readonly RefusedEvent[],
): InboxViewStore {
  const kept = { rows, events: parts.events };
  return {
    inboxRows: (filter, page) => asked(() => inboxRows(kept, filter, page)),
    inboxByPrefix: (prefix, page) => asked(() => inboxByPrefix(kept, prefix, page)),
    inboxRowsOf: (tenant, source, id) => Promise.resolve(inboxRowsOf(kept, { tenant, source, id })),
    inboxFailures: (address) => Promise.resolve(failures.get(textOf(address, address.consumer)) ?? []),
    refusedEvents: (filter, page) => asked(() => refusedEvents(refused(), filter, page)),
    consumers: () => Promise.resolve(consumers(parts)),
  };
}

/** A refused cursor rejects: who catches a rejection would miss a verb that throws at once. */
function asked<T>(read: () => T): Promise<T> {
  return Promise.resolve().then(read);
}
