import { reach } from "#faults";
import type { SequenceReport } from "../../../lanes/lane-store.js";
import type { Addressed } from "../../../outbox/fan-out.js";
import type { SqliteClient } from "../client/client.js";
import { refusalOf } from "../client/failure.js";
import type { OutboxSession } from "../outbox/session.js";
import type { OutboxTurn } from "../outbox/turn.js";
import type { PlacedEvent } from "./places.js";
import { placeEvents, placesLeft } from "./places.js";
import { cancelRemoved, isAnyRemoved } from "../outbox/remove-endpoint.js";

// Few enough for one turn to leave the event loop free soon: a place in a lane of its own takes 50 microseconds.
const EVENTS_PER_TURN = 100;
export const PLACES_PER_TURN = 500;
const CANCELLED_PER_TURN = 100;

/** Sorts before every event that waits for its time: published, and given its places in turns that follow. */
export const AT_ONCE = 0;

interface LaterEvent extends PlacedEvent {
  readonly deliverAt: bigint;
  readonly id: string;
  /** Whether these are the last of its places. */
  readonly last: boolean;
}

/** Gives events whose time has come their places, as many as one turn has time for: they come before what is published after that time. False when some are left. */
export function placeDue(turn: OutboxTurn): boolean {
  if (turn.mayWait) turn.mayWait = placeSome(turn).more;
  return !turn.mayWait;
}

/** Gives events whose time has come their places, and goes on with the cancelling that a removed consumer left. Most events got their places when they were written. */
export async function sequence(session: OutboxSession): Promise<SequenceReport> {
  if (!(await session.look(isAnyToSequence))) return { events: 0, more: false };
  reach("sequence.before_lock");
  const report = await session.write((turn) => {
    const made = sequenceDue(turn);
    reach("sequence.before_commit");
    return made;
  });
  reach("sequence.after_commit");
  return report;
}

/** Whether there is anything to sequence; read without the write lock, so that idle workers keep nobody waiting. */
function isAnyToSequence(turn: OutboxTurn): boolean {
  return isAnyUnplaced(turn) || isAnyRemoved(turn.client);
}

function sequenceDue(turn: OutboxTurn): SequenceReport {
  reach("sequence.before_read");
  const { events, more } = placeSome(turn);
  const cancelling = cancelRemoved(turn, CANCELLED_PER_TURN);
  return { events, more: more || cancelling };
}

function placeSome(turn: OutboxTurn): SequenceReport {
  const found = readDue(turn);
  reach("sequence.after_read");
  const events = withinTurn(turn, found);
  if (events.length > 0) placeOrSetAside(turn, events);
  const left =
    found.length === EVENTS_PER_TURN || events.length < found.length || events.at(-1)?.last === false;
  return { events: events.length, more: left };
}

/** Whether an event that is due waits for its places: a change of endpoints has to wait for that. */
export function isAnyUnplaced({ client, nowMs }: OutboxTurn): boolean {
  return (
    client.get("select 1 as found from posthorn_later where deliver_at <= ? limit 1", nowMs) !== undefined
  );
}

/** The first of the events, as many as one turn has time for; of one that alone has more places, those that fit. */
function withinTurn(turn: OutboxTurn, events: readonly DueEvent[]): readonly LaterEvent[] {
  const { fanOut } = turn.endpoints;
  const fitting: LaterEvent[] = [];
  let room = PLACES_PER_TURN;
  for (const [index, { addressed, ...event }] of events.entries()) {
    const all = fanOut.placesOf(addressed);
    // Only the first can have been begun: those behind it wait until it is done.
    const places = index === 0 ? placesLeft(turn, event.number, all) : all;
    if (places.length > room && index > 0) break;
    fitting.push({ ...event, places: places.slice(0, room), last: places.length <= room });
    room -= places.length;
    if (room < 0) break;
  }
  return fitting;
}

interface DueEvent {
  readonly deliverAt: bigint;
  readonly number: bigint;
  readonly id: string;
  readonly addressed: Addressed;
}

function readDue({ client, nowMs }: OutboxTurn): DueEvent[] {
  const rows = client.allWide(
    `select l.deliver_at, e.id, e.public_id, e.tenant, e.source, e.type, e.key
     from posthorn_later l cross join posthorn_event e on e.id = l.event
     where l.deliver_at <= ? order by l.deliver_at, l.event limit +?`,
    nowMs,
    EVENTS_PER_TURN,
  ) as {
    deliver_at: bigint;
    id: bigint;
    public_id: string;
    tenant: string;
    source: string;
    type: string;
    key: string | null;
  }[];
  return rows.map(({ deliver_at, id, public_id, key, ...rest }) => ({
    deliverAt: deliver_at,
    number: id,
    id: public_id,
    addressed: { ...rest, key: key ?? undefined },
  }));
}

// One event that cannot be placed must not hold up the others: they are placed alone, and it is set aside.
function placeOrSetAside(turn: OutboxTurn, events: readonly LaterEvent[]): void {
  reach("sequence.before_places");
  const isPlaced = tryPlaces(turn, events) === undefined;
  for (const event of events) {
    const error = isPlaced ? undefined : tryPlaces(turn, [event]);
    if (error !== undefined) setAside(turn, event, error);
    if (event.last || error !== undefined) forgetLater(turn.client, event);
  }
  reach("sequence.after_places");
}

function forgetLater(client: SqliteClient, { deliverAt, number }: LaterEvent): void {
  client.run("delete from posthorn_later where deliver_at = ? and event = ?", deliverAt, number);
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
    "insert or replace into posthorn_stage_dead (event, error, died_at) values (?, ?, ?)",
    number,
    message,
    turn.nowMs,
  );
  turn.notify({ kind: "sequence_failed", id, message });
}
