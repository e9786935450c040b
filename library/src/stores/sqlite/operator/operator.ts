import { reach } from "#faults";
import { parseDeliveryId } from "../../../lanes/delivery-id.js";
import type { DeadRound, DeadStore, RedrivenRound } from "../../../operator/dead-store.js";
import type { LookupStore } from "../../../operator/lookup-store.js";
import type { OperatorStore } from "../../../operator/operator-store.js";
import type { SetAsideStore } from "../../../operator/set-aside-store.js";
import type { ViewStore } from "../../../operator/view-store.js";
import type { Wake } from "../../../work/wake.js";
import type { OutboxSession } from "../outbox/session.js";
import type { InboxViewStore } from "../../../operator/inbox-view-store.js";
import type { HeldStore } from "../../../operator/held-store.js";
import type { ReplayStore } from "../../../operator/replay-store.js";
import { forgetEvent } from "./forget.js";
import { markStored, unhandled } from "./mark-stored.js";
import { markApplied, stageAgain } from "./stage-again.js";
import { listConsumers } from "./views/consumers.js";
import { findHeld, readHeldEvent } from "./views/held.js";
import { findInboxByPrefix, findInboxRows, readInboxFailures, readInboxRows } from "./views/inbox-rows.js";
import { findRefused } from "./views/refused.js";
import { readAttempts, recordPlaceOf } from "./views/attempts.js";
import { blockedLanes } from "./views/blocked-lanes.js";
import { cancelLane } from "./cancel.js";
import { takeCensus } from "./views/census.js";
import { deadGroups } from "./views/dead-groups.js";
import { deadLetters } from "./views/dead-letters.js";
import { deadSummary } from "./views/dead-summary.js";
import { deliveriesOf, findDelivery } from "./views/deliveries.js";
import { readEnds } from "./views/ends.js";
import { findEventIds, readTenants, findEvents, readEvent } from "./views/events.js";
import { findLane, findLanes } from "./views/lanes.js";
import { readQueue } from "./views/queue.js";
import { redriveDead, redriveRounds } from "./redrive.js";
import { readNamedEvents, readRepeats } from "./views/repeats.js";
import { releaseHeld } from "./release-held.js";
import { raiseGenerations } from "./raise-generations.js";
import { retryWaiting } from "./retry.js";
import { redriveEvent, setAside } from "./set-aside.js";
import { skipHead } from "./skip.js";
import { standings } from "./views/standings.js";

/** How a person looks and intervenes. */
export function createOperator(
  session: OutboxSession,
  wake: Wake,
): OperatorStore &
  DeadStore &
  SetAsideStore &
  LookupStore &
  ViewStore &
  InboxViewStore &
  HeldStore &
  ReplayStore {
  const rung = async <T>(written: Promise<T>): Promise<T> => {
    const answer = await written;
    wake.ring("committed");
    return answer;
  };
  return {
    ...inboxViewsOf(session),
    ...inboxDeedsOf(session, rung),
    blockedLanes: (page) => session.look(({ client, nowMs }) => blockedLanes(client, { ...page, nowMs })),
    deadLetters: (page, filter) => session.look((turn) => deadLetters(turn, page, filter)),
    deadGroups: (filter) => session.look((turn) => deadGroups(turn, filter)),
    deadSummary: (filter) => session.look((turn) => deadSummary(turn, filter)),
    redriveAll: (letters) => rung(redriveParts(session, letters)),
    cancel: (laneId, through) => rung(session.write((turn) => cancelLane(turn, laneId, through))),
    redrive: (deliveryId) => rung(session.write((turn) => redriveDead(turn, deliveryId))),
    skip: (laneId, head) => rung(session.write((turn) => skipHead(turn, laneId, head))),
    retry: (target) => rung(retryWaiting(session, target)),
    setAside: (page) => session.look((turn) => setAside(turn, page)),
    redriveEvent: async (number) =>
      number > LAST_NUMBER ? "unknown" : rung(session.write((turn) => redriveEvent(turn, number))),
    raiseGenerations: () => session.write(raiseGenerations),
    async attempts(deliveryId) {
      const place = parseDeliveryId(deliveryId);
      if (place === undefined) return [];
      return session.look(({ client }) => readAttempts(client, recordPlaceOf(place)));
    },
    ...lookupsOf(session),
    standings: () => session.look(standings),
    queue: (laneId, part, limit) => session.look(({ client }) => readQueue(client, laneId, { part, limit })),
    async ends(deliveryId) {
      const place = parseDeliveryId(deliveryId);
      if (place === undefined) return [];
      return session.look(({ client }) => readEnds(client, recordPlaceOf(place)));
    },
    repeats: (tenant, eventId) => session.look(({ client }) => readRepeats(client, tenant, eventId)),
    namedEvents: (tenant, names) => session.look((turn) => readNamedEvents(turn, tenant, names)),
    eventIds: (tenant, prefix, limit) =>
      session.look(({ client }) => findEventIds(client, tenant, { prefix, limit })),
    tenantsOf: (eventId) => session.look(({ client }) => readTenants(client, eventId)),
  };
}

/** What a person does about events of the inbox. `rung` wakes the worker after a commit. */
function inboxDeedsOf(
  session: OutboxSession,
  rung: <T>(written: Promise<T>) => Promise<T>,
): HeldStore & ReplayStore {
  return {
    heldEvents: (filter, page) => session.look((turn) => findHeld(turn, filter, page)),
    heldEvent: (tenant, eventId) => session.look((turn) => readHeldEvent(turn, tenant, eventId)),
    async releaseHeld(tenant, eventId) {
      const released = await rung(session.write((turn) => releaseHeld(turn, tenant, eventId)));
      reach("release.after_commit");
      return released;
    },
    async stageAgain(wanted) {
      const staged = await rung(session.write((turn) => stageAgain(turn, wanted)));
      reach("stage_again.after_commit");
      return staged;
    },
    unhandled: (tenant, eventIds, consumer) =>
      session.look((turn) => eventIds.flatMap((eventId) => unhandled(turn, { tenant, eventId, consumer }))),
    async markStored(tenant, eventId, consumer) {
      const marked = await session.write((turn) => markStored(turn, { tenant, eventId, consumer }));
      reach("mark.after_commit");
      return marked;
    },
    markApplied: (row) => session.write((turn) => markApplied(turn, row)),
    async forgetEvent(tenant, source, id) {
      const forgotten = await session.write((turn) => forgetEvent(turn, { tenant, source, id }));
      reach("forget.after_commit");
      return forgotten;
    },
  };
}

function lookupsOf(session: OutboxSession): LookupStore {
  return {
    events: (filter, page) => session.look(({ client }) => findEvents(client, filter, page)),
    event: (tenant, id) => session.look(({ client }) => readEvent(client, tenant, id)),
    deliveriesOf: (tenant, eventIds) => session.look((turn) => deliveriesOf(turn, tenant, eventIds)),
    delivery: (id) => session.look((turn) => findDelivery(turn, id)),
    lanes: (filter, page) => session.look((turn) => findLanes(turn, filter, page)),
    lane: (id) => session.look((turn) => findLane(turn, id)),
    census: () => session.look(takeCensus),
  };
}

function inboxViewsOf(session: OutboxSession): InboxViewStore {
  return {
    inboxRows: (filter, page) => session.look(({ client }) => findInboxRows(client, filter, page)),
    inboxByPrefix: (prefix, page) => session.look(({ client }) => findInboxByPrefix(client, prefix, page)),
    inboxRowsOf: (tenant, source, id) =>
      session.look(({ client }) => readInboxRows(client, { tenant, source, id })),
    inboxFailures: (address) => session.look(({ client }) => readInboxFailures(client, address)),
    refusedEvents: (filter, page) => session.look(({ client }) => findRefused(client, filter, page)),
    consumers: () => session.look(listConsumers),
  };
}

const LAST_NUMBER = 2n ** 63n - 1n;

// How many one turn takes, so that it leaves the event loop free after a few milliseconds.
const REDRIVES_PER_TURN = 50;

async function redriveParts(
  session: OutboxSession,
  letters: readonly DeadRound[],
): Promise<readonly RedrivenRound[]> {
  const parts: Promise<readonly RedrivenRound[]>[] = [];
  for (let from = 0; from < letters.length; from += REDRIVES_PER_TURN) {
    const some = letters.slice(from, from + REDRIVES_PER_TURN);
    parts.push(session.write((turn) => redriveRounds(turn, some)));
  }
  const redriven = (await Promise.all(parts)).flat();
  reach("redrive.after_commit");
  return redriven;
}
