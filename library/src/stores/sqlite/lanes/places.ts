import type { Lane } from "../../../lanes/lane.js";
import { arms } from "../../../lanes/lane.js";
import type { LaneName, Place } from "../../../outbox/fan-out.js";
import type { SqliteClient } from "../client/client.js";
import { withoutNul } from "../inbox/inbox-row.js";
import type { OutboxTurn } from "../outbox/turn.js";
import type { RecordPlace } from "./attempt-rows.js";

/** An event that is stored, and places that it is to be given. */
export interface PlacedEvent {
  readonly number: bigint;
  readonly places: readonly Place[];
}

/** Gives events their places: in each lane they follow each other in the order given here. */
export function placeEvents(turn: OutboxTurn, events: readonly PlacedEvent[]): void {
  const { numbers } = turn.consumers;
  let lanes: Lanes | undefined;
  for (const { number: event, places } of events) {
    for (const { consumerId, lane } of places) {
      const consumer = numbers.get(consumerId);
      if (consumer === undefined) continue;
      if (lane === undefined) addLoose(turn, { consumer, event, round: 1 });
      else gather((lanes ??= new Map()), consumer, lane).events.push(event);
    }
  }
  // Each lane is asked once for all of its new sequences.
  for (const [consumer, byName] of lanes ?? []) {
    for (const { lane, events: laneEvents } of byName.values())
      appendToLane(turn, { consumer, lane, events: laneEvents, round: 1 });
  }
}

/** Events by consumer and lane. */
type Lanes = Map<bigint, Map<string, Gathered>>;

interface Gathered {
  readonly lane: LaneName;
  readonly events: bigint[];
}

function gather(lanes: Lanes, consumer: bigint, lane: LaneName): Gathered {
  let byName = lanes.get(consumer);
  if (byName === undefined) lanes.set(consumer, (byName = new Map<string, Gathered>()));
  const { tenant, source, key } = lane;
  const name = tenant === "" && source === "" ? key : JSON.stringify([tenant, source, key]);
  let gathered = byName.get(name);
  if (gathered === undefined) byName.set(name, (gathered = { lane, events: [] }));
  return gathered;
}

interface LanePlace {
  readonly consumer: bigint;
  readonly lane: LaneName;
  readonly events: readonly bigint[];
  readonly round: number;
}

function appendToLane(turn: OutboxTurn, place: LanePlace): void {
  const { consumer, events, round } = place;
  const lane = storable(place.lane);
  const count = BigInt(events.length);
  const known = turn.client.getWide(
    `update posthorn_lane set next_seq = next_seq + ? where consumer = ? and tenant = ? and source = ? and key = ?
     returning id, next_seq, head_seq, state`,
    count,
    consumer,
    lane.tenant,
    lane.source,
    lane.key,
  ) as Reserved | undefined;
  if (known !== undefined) armIfEmpty(turn, known, count);
  const reserved =
    known === undefined
      ? createLane(turn, { consumer, lane, events })
      : { id: known.id, first: known.next_seq - count };
  insertDeliveries(turn, reserved, { consumer, events, round });
}

function storable({ tenant, source, key }: LaneName): LaneName {
  return { tenant: withoutNul(tenant), source: withoutNul(source), key: withoutNul(key) };
}

interface Reserve {
  readonly id: bigint;
  readonly first: bigint;
}

interface Reserved {
  readonly id: bigint;
  readonly next_seq: bigint;
  readonly head_seq: bigint;
  readonly state: Lane["state"];
}

// A lane in which something waits has a ready time, or is leased, or is stopped: touching it would make a retry early.
function armIfEmpty({ client, nowMs }: OutboxTurn, lane: Reserved, added: bigint): void {
  if (!arms({ state: lane.state, head: lane.head_seq, end: lane.next_seq - added })) return;
  client.run("update posthorn_lane set ready_at = ? where id = ?", nowMs, lane.id);
}

function createLane(
  { client, nowMs }: OutboxTurn,
  { consumer, lane, events }: Omit<LanePlace, "round">,
): Reserve {
  // From its first event's number on: the lane of an endpoint that was removed and added again never goes back.
  const first = events[0] ?? 0n;
  const id = client.insert(
    `insert into posthorn_lane (consumer, tenant, source, key, next_seq, head_seq, ready_at, generation)
     values (?, ?, ?, ?, ?, ?, ?, (select generation from posthorn_outbox_config where one = 1))`,
    consumer,
    lane.tenant,
    lane.source,
    lane.key,
    first + BigInt(events.length),
    first,
    nowMs,
  );
  return { id, first };
}

function insertDeliveries(
  { client }: OutboxTurn,
  { id, first }: Reserve,
  { consumer, events, round }: Omit<LanePlace, "lane">,
): void {
  let seq = first;
  for (const event of events) {
    client.run(
      "insert into posthorn_delivery (lane, seq, event, round) values (?, ?, ?, ?)",
      id,
      seq,
      event,
      round,
    );
    keepPlace(client, { event, consumer, lane: id, seq });
    seq += 1n;
  }
}

function addLoose(
  { client, nowMs }: OutboxTurn,
  { consumer, event, round }: { readonly consumer: bigint; readonly event: bigint; readonly round: number },
): void {
  const seq = client.insert(
    "insert into posthorn_loose_delivery (consumer, event, round, ready_at) values (?, ?, ?, ?)",
    consumer,
    event,
    round,
    nowMs,
  );
  keepPlace(client, { event, consumer, lane: 0n, seq });
}

/** Keeps where the event went: the delivery itself is gone once it was made. */
function keepPlace(
  client: SqliteClient,
  { event, consumer, lane, seq }: RecordPlace & { readonly event: bigint; readonly consumer: bigint },
): void {
  client.run(
    "insert into posthorn_place (event, consumer, lane, seq) values (?, ?, ?, ?)",
    event,
    consumer,
    lane,
    seq,
  );
}

/** Puts a delivery that its lane went on without at the end of the lane in which its event belongs now, in its new round. */
export function placeAgain(
  turn: OutboxTurn,
  { consumerId, lane }: Place,
  { event, round }: { readonly event: bigint; readonly round: number },
): void {
  const consumer = turn.consumers.numbers.get(consumerId);
  if (consumer === undefined) return;
  if (lane === undefined) addLoose(turn, { consumer, event, round });
  else appendToLane(turn, { consumer, lane, events: [event], round });
}
