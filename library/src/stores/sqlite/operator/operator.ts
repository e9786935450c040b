import { parseDeliveryId } from "../../../lanes/delivery-id.js";
import type { DeadRound, DeadStore, RedrivenRound } from "../../../operator/dead-store.js";
import type { LookupStore } from "../../../operator/lookup-store.js";
import type { OperatorStore } from "../../../operator/operator-store.js";
import type { SetAsideStore } from "../../../operator/set-aside-store.js";
import type { ViewStore } from "../../../operator/view-store.js";
import type { Wake } from "../../../work/wake.js";
import type { OutboxSession } from "../outbox/session.js";
import type { InboxViewStore } from "../../../operator/inbox-view-store.js";
import type { ReplayStore } from "../../../operator/replay-store.js";
import { forgetEvent, markApplied, stageAgain } from "./stage-again.js";
import { listConsumers } from "./consumers.js";
import { findInboxByPrefix, findInboxRows, readInboxFailures, readInboxRows } from "./inbox-rows.js";
import { findRefused } from "./refused.js";
import { readAttempts, recordPlaceOf } from "./attempts.js";
import { blockedLanes } from "./blocked-lanes.js";
import { cancelLane } from "./cancel.js";
import { takeCensus } from "./census.js";
import { deadGroups } from "./dead-groups.js";
import { deadLetters } from "./dead-letters.js";
import { deadSummary } from "./dead-summary.js";
import { deliveriesOf, findDelivery } from "./deliveries.js";
import { readEnds } from "./ends.js";
import { findEventIds, readTenants, findEvents, readEvent } from "./events.js";
import { findLane, findLanes } from "./lanes.js";
import { readQueue } from "./queue.js";
import { redriveDead, redriveRounds } from "./redrive.js";
import { readNamedEvents, readRepeats } from "./repeats.js";
import { raiseGenerations } from "./raise-generations.js";
import { retryWaiting } from "./retry.js";
import { redriveEvent, setAside } from "./set-aside.js";
import { skipHead } from "./skip.js";
import { standings } from "./standings.js";

/** How a person looks and intervenes. */
export function createOperator(
  session: OutboxSession,
  wake: Wake,
): OperatorStore & DeadStore & SetAsideStore & LookupStore & ViewStore & InboxViewStore & ReplayStore {
  const rung = async <T>(written: Promise<T>): Promise<T> => {
    const answer = await written;
    wake.ring("committed");
    return answer;
  };
  return {
    ...inboxViewsOf(session),
    stageAgain: (wanted) => rung(session.write((turn) => stageAgain(turn, wanted))),
    markApplied: (row) => session.write((turn) => markApplied(turn, row)),
    forgetEvent: (tenant, source, id) => session.write((turn) => forgetEvent(turn, { tenant, source, id })),
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
    events: (filter, page) => session.look(({ client }) => findEvents(client, filter, page)),
    event: (tenant, id) => session.look(({ client }) => readEvent(client, tenant, id)),
    deliveriesOf: (tenant, eventIds) => session.look((turn) => deliveriesOf(turn, tenant, eventIds)),
    delivery: (id) => session.look((turn) => findDelivery(turn, id)),
    lanes: (filter, page) => session.look((turn) => findLanes(turn, filter, page)),
    lane: (id) => session.look((turn) => findLane(turn, id)),
    census: () => session.look(takeCensus),
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
  return (await Promise.all(parts)).flat();
}
