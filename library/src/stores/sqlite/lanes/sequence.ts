import { reach } from "#faults";
import { dealPlaces } from "../../../lanes/deal.js";
import type { Dealt } from "../../../lanes/deal.js";
import type { SequenceReport } from "../../../lanes/lane-store.js";
import { UNCLAIMED } from "../../../outbox/fan-out.js";
import type { Place } from "../../../outbox/fan-out.js";
import { refusalOf } from "../client/failure.js";
import { cancelRemoved, isAnyRemoved } from "../outbox/remove-endpoint.js";
import type { OutboxSession } from "../outbox/session.js";
import type { OutboxTurn } from "../outbox/turn.js";
import { holdBack } from "./hold.js";
import { placeEvents } from "./places.js";
import type { Staged } from "./stage.js";
import {
  consume,
  isAnyStaged,
  isStaged,
  keepPart,
  moveDue,
  readStaged,
  setAside,
  stagedTenants,
} from "./stage.js";

// Few enough for one turn to leave the event loop free soon: a place in a lane of its own takes 50 microseconds.
const EVENTS_PER_TURN = 100;
export const PLACES_PER_TURN = 500;
export const CANCELLED_PER_TURN = 100;

/** Where the next step goes on, so that no tenant is always the last. */
export interface TenantCursor {
  tenant: string;
}

/**
 * Gives events that wait their places, one bounded step, tenants in turn, and goes on with the cancelling that a removed
 * consumer left. Most events got their places when they were written.
 */
export async function sequence(session: OutboxSession, cursor: TenantCursor): Promise<SequenceReport> {
  const found = await session.look((turn) => ({
    staged: isAnyStaged(turn),
    removed: isAnyRemoved(turn.client),
  }));
  const placed = found.staged ? await sequenceStaged(session, cursor) : { events: 0, more: false };
  if (!found.removed) return placed;
  // A turn of its own: the cancelling of a million deliveries must not stop anybody's events.
  const { cancelled, more } = await session.write((turn) => cancelRemoved(turn, CANCELLED_PER_TURN));
  return { ...placed, cancelled, more: placed.more || more };
}

async function sequenceStaged(session: OutboxSession, cursor: TenantCursor): Promise<SequenceReport> {
  reach("sequence.before_lock");
  const report = await session.write((turn) => {
    reach("sequence.before_read");
    const moved = moveDue(turn, EVENTS_PER_TURN);
    const tenants = stagedTenants(turn.client, cursor.tenant, EVENTS_PER_TURN);
    const { events, more } = placeSome(turn, tenants);
    cursor.tenant = tenants.at(-1) ?? cursor.tenant;
    reach("sequence.before_commit");
    return { events, more: more || moved === EVENTS_PER_TURN || tenants.length === EVENTS_PER_TURN };
  });
  reach("sequence.after_commit");
  return report;
}

/** One bounded step for one tenant: what waits of it comes before what is published now. True when nothing of it is left. */
export function isDrained(turn: OutboxTurn, tenant: string): boolean {
  if (!turn.mayWait) return true;
  if (!isAnyStaged(turn)) {
    turn.mayWait = false;
    return true;
  }
  const moved = moveDue(turn, EVENTS_PER_TURN);
  if (isStaged(turn, tenant)) placeSome(turn, [tenant]);
  return moved < EVENTS_PER_TURN && !isStaged(turn, tenant);
}

function placeSome(turn: OutboxTurn, tenants: readonly string[]): SequenceReport {
  const { client } = turn;
  const share = Math.max(1, Math.ceil(EVENTS_PER_TURN / Math.max(1, tenants.length)));
  const queues = tenants.map((tenant) => readStaged(client, tenant, share));
  reach("sequence.after_read");
  const taken = queues.flat();
  const gone = taken.filter(({ event }) => event === undefined);
  for (const staged of gone) setAside(turn, staged, "the event is not in the table of events");
  const { fanOut } = turn.consumers;
  const unclaimed = taken.filter(({ event }) => event !== undefined && fanOut.isUnclaimed(event));
  for (const staged of unclaimed) setAside(turn, staged, UNCLAIMED);
  const aside = new Set([...gone, ...unclaimed]);
  const deal = (given: readonly (readonly Staged[])[]): readonly Given[] =>
    dealPlaces(given, PLACES_PER_TURN, (staged, most) => partOf(turn, staged, most));
  const kept = holdBack(
    turn,
    queues.map((queue) => queue.filter((staged) => !aside.has(staged))),
    deal,
  );
  const dealt = deal(kept.queues);
  reach("sequence.before_places");
  placeOrSetAside(turn, dealt);
  reach("sequence.after_places");
  const done = aside.size + kept.held + dealt.filter(({ isDone }) => isDone).length;
  const more = done < taken.length || kept.freed > 0 || queues.some((queue) => queue.length === share);
  return { events: aside.size + kept.held + kept.freed + dealt.length, more };
}

/** Up to `most` of the places that an event has not been given yet, in the order of the consumers' numbers. */
function partOf(
  turn: OutboxTurn,
  { event, after }: Staged,
  most: number,
): { readonly places: readonly Place[]; readonly isDone: boolean } {
  const { fanOut, numbers } = turn.consumers;
  if (event === undefined) return { places: [], isDone: true };
  const isLeft = (consumerId: string): boolean =>
    after === undefined || (numbers.get(consumerId) ?? 0n) > after;
  return fanOut.partOf(event, isLeft, most);
}

type Given = Dealt<Staged, Place>;

// One event that cannot be placed must not hold up the others: they are placed alone, and it is set aside.
function placeOrSetAside(turn: OutboxTurn, dealt: readonly Given[]): void {
  const isPlaced = tryPlaces(turn, dealt) === undefined;
  for (const given of dealt) {
    const error = isPlaced ? undefined : tryPlaces(turn, [given]);
    if (error !== undefined) setAside(turn, given.event, error.message);
    else if (given.isDone) consume(turn.client, given.event);
    else keepPart(turn.client, given.event, lastConsumer(turn, given));
  }
}

function lastConsumer({ consumers }: OutboxTurn, { event, places }: Given): bigint {
  return consumers.numbers.get(places.at(-1)?.consumerId ?? "") ?? event.after ?? 0n;
}

function tryPlaces(turn: OutboxTurn, dealt: readonly Given[]): Error | undefined {
  if (dealt.length === 0) return undefined;
  const { client } = turn;
  client.run("savepoint posthorn_places");
  try {
    placeEvents(
      turn,
      dealt.map(({ event, places }) => ({ number: event.eventId, places })),
    );
    client.run("release posthorn_places");
    return undefined;
  } catch (error) {
    const refusal = refusalOf(error);
    // A full or failing disk is nobody's fault: nothing is set aside for it.
    if (!client.inTransaction || (refusal !== "constraint" && refusal !== "other")) throw error;
    client.run("rollback to posthorn_places");
    client.run("release posthorn_places");
    return error instanceof Error ? error : new Error(String(error));
  }
}
