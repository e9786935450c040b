import type { Place } from "../../../outbox/fan-out.js";
import type { RowPlace } from "../operator/attempts.js";
import type { SqliteClient } from "../client/client.js";
import { withoutNul } from "../inbox/inbox-row.js";
import type { OutboxTurn } from "../outbox/turn.js";

/** An event that is stored, and places that it is to be given. */
export interface PlacedEvent {
  readonly number: bigint;
  readonly places: readonly Place[];
}

/** Gives events their places: in each lane they follow each other in the order given here. */
export function placeEvents(turn: OutboxTurn, events: readonly PlacedEvent[]): void {
  const { numbers } = turn.endpoints;
  let lanes: Lanes | undefined;
  for (const { number: event, places } of events) {
    for (const { endpointId, laneKey } of places) {
      const endpoint = numbers.get(endpointId);
      if (endpoint === undefined) continue;
      if (laneKey === undefined) addLoose(turn, { endpoint, event, round: 1 });
      else gather((lanes ??= new Map()), endpoint, laneKey).push(event);
    }
  }
  // Each lane is asked once for all of its new sequences.
  for (const [endpoint, byKey] of lanes ?? []) {
    for (const [key, laneEvents] of byKey)
      appendToLane(turn, { endpoint, key, events: laneEvents, round: 1 });
  }
}

/** Events by endpoint and key. */
type Lanes = Map<bigint, Map<string, bigint[]>>;

function gather(lanes: Lanes, endpoint: bigint, key: string): bigint[] {
  let byKey = lanes.get(endpoint);
  if (byKey === undefined) lanes.set(endpoint, (byKey = new Map<string, bigint[]>()));
  let events = byKey.get(key);
  if (events === undefined) byKey.set(key, (events = []));
  return events;
}

interface LanePlace {
  readonly endpoint: bigint;
  readonly key: string;
  readonly events: readonly bigint[];
  readonly round: number;
}

function appendToLane(turn: OutboxTurn, place: LanePlace): void {
  const { endpoint, events, round } = place;
  const key = withoutNul(place.key);
  const count = BigInt(events.length);
  const known = turn.client.getWide(
    `update posthorn_lane set next_seq = next_seq + ? where endpoint = ? and key = ?
     returning id, next_seq, head_seq, state`,
    count,
    endpoint,
    key,
  ) as Reserved | undefined;
  if (known !== undefined) armIfEmpty(turn, known, count);
  const reserved =
    known === undefined
      ? createLane(turn, { endpoint, key, events })
      : { id: known.id, first: known.next_seq - count };
  insertDeliveries(turn, reserved, { endpoint, events, round });
}

interface Reserve {
  readonly id: bigint;
  readonly first: bigint;
}

interface Reserved {
  readonly id: bigint;
  readonly next_seq: bigint;
  readonly head_seq: bigint;
  readonly state: string;
}

// A lane that waits already has a time, or is leased, or is stopped; touching it would make a retry early.
function armIfEmpty({ client, nowMs }: OutboxTurn, lane: Reserved, added: bigint): void {
  if (lane.head_seq !== lane.next_seq - added || lane.state !== "flowing") return;
  client.run("update posthorn_lane set ready_at = ? where id = ?", nowMs, lane.id);
}

function createLane(
  { client, nowMs }: OutboxTurn,
  { endpoint, key, events }: Omit<LanePlace, "round">,
): Reserve {
  // From its first event's number on: the lane of an endpoint that was removed and added again never goes back.
  const first = events[0] ?? 0n;
  const id = client.insert(
    "insert into posthorn_lane (endpoint, key, next_seq, head_seq, ready_at) values (?, ?, ?, ?, ?)",
    endpoint,
    key,
    first + BigInt(events.length),
    first,
    nowMs,
  );
  return { id, first };
}

function insertDeliveries(
  { client }: OutboxTurn,
  { id, first }: Reserve,
  { endpoint, events, round }: Omit<LanePlace, "key">,
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
    keepPlace(client, { event, endpoint, lane: id, seq });
    seq += 1n;
  }
}

function addLoose(
  { client, nowMs }: OutboxTurn,
  { endpoint, event, round }: { readonly endpoint: bigint; readonly event: bigint; readonly round: number },
): void {
  const seq = client.insert(
    "insert into posthorn_loose_delivery (endpoint, event, round, ready_at) values (?, ?, ?, ?)",
    endpoint,
    event,
    round,
    nowMs,
  );
  keepPlace(client, { event, endpoint, lane: 0n, seq });
}

/** What is left when the delivery itself is gone: where the event went. */
function keepPlace(
  client: SqliteClient,
  { event, endpoint, lane, seq }: RowPlace & { readonly endpoint: bigint },
): void {
  client.run(
    "insert into posthorn_place (event, endpoint, lane, seq) values (?, ?, ?, ?)",
    event,
    endpoint,
    lane,
    seq,
  );
}

/** The places of an event that it has not been given yet. One that has thousands is given them in several turns. */
export function placesLeft(turn: OutboxTurn, event: bigint, places: readonly Place[]): readonly Place[] {
  const rows = turn.client.allWide("select endpoint from posthorn_place where event = ?", event) as {
    endpoint: bigint;
  }[];
  if (rows.length === 0) return places;
  const given = new Set(rows.map(({ endpoint }) => endpoint));
  const { numbers } = turn.endpoints;
  return places.filter(({ endpointId }) => !given.has(numbers.get(endpointId) ?? 0n));
}

/** Puts a delivery that its lane went on without at the end of the lane in which its event belongs now, in its new round. */
export function placeAgain(
  turn: OutboxTurn,
  { endpointId, laneKey }: Place,
  { event, round }: { readonly event: bigint; readonly round: number },
): void {
  const endpoint = turn.endpoints.numbers.get(endpointId);
  if (endpoint === undefined) return;
  if (laneKey === undefined) addLoose(turn, { endpoint, event, round });
  else appendToLane(turn, { endpoint, key: laneKey, events: [event], round });
}
