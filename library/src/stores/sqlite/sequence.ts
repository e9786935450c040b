import { reach } from "#faults";
import type { SequenceReport } from "../../delivery/delivery-store.js";
import { refusalOf } from "./failure.js";
import type { OutboxTurn } from "./outbox-turn.js";
import type { StoredEvent } from "./places.js";
import { placeEvents } from "./places.js";
import { cancelRemoved, isAnyRemoved } from "./removal.js";

// Few enough for one turn to leave the event loop free soon.
const EVENTS_PER_TURN = 100;
const PLACES_PER_TURN = 1000;
const CANCELLED_PER_TURN = 100;

interface LaterEvent extends StoredEvent {
  readonly deliverAt: bigint;
  readonly id: string;
}

/** Gives every event whose time has come its places: they come before what is published after that time. */
export function placeDue(turn: OutboxTurn): void {
  for (let events = readDue(turn); events.length > 0; events = readDue(turn)) placeOrSetAside(turn, events);
}

/** Gives events whose time has come their places, and goes on with the cancelling that a removed endpoint left. All others got their places when they were written. */
export function sequenceDue(turn: OutboxTurn): SequenceReport {
  reach("sequence.before_read");
  const found = readDue(turn);
  reach("sequence.after_read");
  const events = withinTurn(turn, found);
  if (events.length > 0) placeOrSetAside(turn, events);
  const cancelling = cancelRemoved(turn, CANCELLED_PER_TURN);
  const left = found.length === EVENTS_PER_TURN || events.length < found.length;
  return { events: events.length, more: left || cancelling };
}

/** Whether there is anything to sequence; read without the write lock, so that idle workers keep nobody waiting. */
export function isAnyToSequence({ client, nowMs }: OutboxTurn): boolean {
  return (
    client.get("select 1 from posthorn_later where deliver_at <= ? limit 1", nowMs) !== undefined ||
    isAnyRemoved(client)
  );
}

/** The first of the events, as many as one turn has time for: each may have thousands of places. */
function withinTurn({ endpoints }: OutboxTurn, events: readonly LaterEvent[]): readonly LaterEvent[] {
  let places = 0;
  const end = events.findIndex(({ addressed }, index) => {
    places += endpoints.fanOut.placesOf(addressed).length;
    return places > PLACES_PER_TURN && index > 0;
  });
  return end === -1 ? events : events.slice(0, end);
}

function readDue({ client, nowMs }: OutboxTurn): LaterEvent[] {
  const rows = client.allWide(
    `select l.deliver_at, e.id, e.event_id, e.tenant, e.source, e.type, e.key
     from posthorn_later l cross join posthorn_event e on e.id = l.event
     where l.deliver_at <= ? order by l.deliver_at, l.event limit +?`,
    nowMs,
    EVENTS_PER_TURN,
  ) as {
    deliver_at: bigint;
    id: bigint;
    event_id: string;
    tenant: string;
    source: string;
    type: string;
    key: string | null;
  }[];
  return rows.map(({ deliver_at, id, event_id, key, ...rest }) => ({
    deliverAt: deliver_at,
    number: id,
    id: event_id,
    addressed: { ...rest, key: key ?? undefined },
  }));
}

// One event that cannot be placed must not hold up the others: they are placed alone, and it is set aside.
function placeOrSetAside(turn: OutboxTurn, events: readonly LaterEvent[]): void {
  reach("sequence.before_places");
  if (tryPlaces(turn, events) !== undefined) {
    for (const event of events) {
      const error = tryPlaces(turn, [event]);
      if (error !== undefined) setAside(turn, event, error);
    }
  }
  for (const { deliverAt, number } of events) {
    turn.client.run("delete from posthorn_later where deliver_at = ? and event = ?", deliverAt, number);
  }
  reach("sequence.after_places");
}

function tryPlaces(turn: OutboxTurn, events: readonly LaterEvent[]): Error | undefined {
  const { client } = turn;
  client.run("savepoint posthorn_places");
  try {
    placeEvents(turn, events);
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

function setAside(turn: OutboxTurn, { number, id }: LaterEvent, { message }: Error): void {
  turn.client.run(
    "insert or replace into posthorn_set_aside (event, error, set_aside_at) values (?, ?, ?)",
    number,
    message,
    turn.nowMs,
  );
  turn.notify({ kind: "sequence_failed", id, message });
}
