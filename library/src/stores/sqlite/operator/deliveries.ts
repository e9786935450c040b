import { deliveryIdOf, parseDeliveryId } from "../../../lanes/delivery-id.js";
import type { DeliveryState, DeliverySummary } from "../../../operator/lookup-store.js";
import { withoutNul } from "../inbox/inbox-row.js";
import type { OutboxTurn } from "../outbox/turn.js";

/** A place that an event was given, and everything that could say what became of it there. */
interface PlaceColumns {
  readonly lane: bigint;
  readonly seq: bigint;
  readonly endpoint: bigint;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly tenant: string;
  readonly type: string;
  readonly event_key: string | null;
  readonly lane_key: string | null;
  readonly lane_state: string | null;
  readonly head_seq: bigint | null;
  readonly run_len: bigint | null;
  /** Of the delivery that waits; null where it has ended. */
  readonly round: bigint | null;
  readonly ready_at: bigint | null;
  readonly leased_by: string | null;
  /** JSON: an array of the last of each, with its round first. */
  readonly attempt: string | null;
  readonly dead: string | null;
  readonly cancelled: string | null;
}

type LastAttempt = readonly [
  round: number,
  no: number,
  startedAt: number,
  outcome: string,
  status: number | null,
  error: string | null,
];
type Ending = readonly [round: number, because: string];

// A lane without deliveries that wait has no lease; a loose delivery is its own lane.
const SELECT = `select p.lane, p.seq, p.endpoint, n.endpoint_id, e.event_id, e.tenant, e.type, e.key as event_key,
    l.key as lane_key, l.state as lane_state, l.head_seq, l.run_len, coalesce(d.round, x.round) as round,
    coalesce(l.ready_at, x.ready_at) as ready_at, coalesce(l.leased_by, x.leased_by) as leased_by,
    (select json_array(a.round, a.no, a.started_at, a.outcome, a.status, a.error) from posthorn_attempt a
     where a.lane = p.lane and a.seq = p.seq order by a.round desc, a.no desc limit 1) as attempt,
    (select json_array(g.round, g.because) from posthorn_dead g
     where g.lane = p.lane and g.seq = p.seq order by g.round desc limit 1) as dead,
    (select json_array(c.round, c.because) from posthorn_cancelled c
     where c.lane = p.lane and c.seq = p.seq order by c.round desc limit 1) as cancelled
  from posthorn_place p
  cross join posthorn_event e on e.id = p.event
  cross join posthorn_endpoint n on n.id = p.endpoint
  left join posthorn_lane l on p.lane <> 0 and l.id = p.lane
  left join posthorn_delivery d on d.lane = p.lane and d.seq = p.seq
  left join posthorn_loose_delivery x on p.lane = 0 and x.id = p.seq`;

/** Every delivery of these events, in the order in which they were sequenced. */
export function deliveriesOf(
  turn: OutboxTurn,
  tenant: string,
  eventIds: readonly string[],
): DeliverySummary[] {
  const events = turn.client.allWide(
    `select e.id from json_each(?) cross join posthorn_event e indexed by posthorn_event_public_id
     on e.event_id = json_each.value and e.tenant = ?`,
    JSON.stringify([...new Set(eventIds)]),
    withoutNul(tenant),
  ) as { id: bigint }[];
  const inOrder = events.map(({ id }) => id).toSorted((left, right) => (left < right ? -1 : 1));
  return inOrder.flatMap((event) => {
    const rows = turn.client.allWide(
      `${SELECT} where p.event = ? order by p.event, p.endpoint, p.lane, p.seq`,
      event,
    ) as PlaceColumns[];
    return rows.map((row) => summaryOf(turn, row));
  });
}

/** Undefined where there was never one of this id. */
export function findDelivery(turn: OutboxTurn, id: string): DeliverySummary | undefined {
  const place = parseDeliveryId(id);
  if (place === undefined) return undefined;
  const [lane, seq] = place.kind === "lane" ? [place.lane, place.sequence] : [0n, place.id];
  const event = eventAt(turn, lane, seq);
  if (event === undefined) return undefined;
  const row = turn.client.getWide(
    `${SELECT} where p.event = ? and p.lane = ? and p.seq = ?`,
    event,
    lane,
    seq,
  );
  return row === undefined ? undefined : summaryOf(turn, row as PlaceColumns);
}

/** Places are found by their events; whichever record a delivery has left names its event. */
function eventAt({ client }: OutboxTurn, lane: bigint, seq: bigint): bigint | undefined {
  const waiting =
    lane === 0n
      ? client.getWide("select event from posthorn_loose_delivery where id = ?", seq)
      : client.getWide("select event from posthorn_delivery where lane = ? and seq = ?", lane, seq);
  const found =
    waiting ??
    client.getWide("select event from posthorn_attempt where lane = ? and seq = ? limit 1", lane, seq) ??
    client.getWide("select event from posthorn_dead where lane = ? and seq = ? limit 1", lane, seq) ??
    client.getWide("select event from posthorn_cancelled where lane = ? and seq = ? limit 1", lane, seq);
  return (found as { event: bigint } | undefined)?.event;
}

function summaryOf(turn: OutboxTurn, row: PlaceColumns): DeliverySummary {
  const isLane = row.lane !== 0n;
  const attempt = parsed(row.attempt) as LastAttempt | undefined;
  const { state, round, because } = standingOf(turn, row, attempt);
  // Of this round alone: what a redriven one went through before is told by its attempts.
  const last = attempt?.[0] === round ? attempt : undefined;
  return {
    id: deliveryIdOf(
      isLane ? { kind: "lane", lane: row.lane, sequence: row.seq } : { kind: "loose", id: row.seq },
    ),
    eventId: row.event_id,
    endpointId: row.endpoint_id,
    tenant: row.tenant,
    type: row.type,
    laneId: isLane ? row.lane : undefined,
    key: isLane ? (row.lane_key ?? row.event_key ?? undefined) : undefined,
    sequence: isLane ? row.seq : undefined,
    round,
    state,
    because,
    attempts: last?.[1] ?? 0,
    lastStatus: last?.[4] ?? undefined,
    lastError: last?.[5] ?? undefined,
    lastAttemptAt: last === undefined ? undefined : new Date(last[2]),
    dueInMs: dueInMs(turn, row, state),
  };
}

interface Standing {
  readonly state: DeliveryState;
  readonly round: number;
  readonly because: string | undefined;
}

function standingOf(turn: OutboxTurn, row: PlaceColumns, attempt: LastAttempt | undefined): Standing {
  const dead = parsed(row.dead) as Ending | undefined;
  if (row.round === null) return endedOf(row, attempt, dead);
  const round = Number(row.round);
  if (isDeadHead(row)) return { state: "dead", round, because: dead?.[1] };
  const triedNow = attempt?.[0] === round;
  const state = isUnderWay(row, turn) ? "under_way" : triedNow ? "retrying" : "waiting";
  return { state, round, because: undefined };
}

/** What the record of the last round says. */
function endedOf(row: PlaceColumns, attempt: LastAttempt | undefined, dead: Ending | undefined): Standing {
  const cancelled = parsed(row.cancelled) as Ending | undefined;
  if (attempt?.[3] === "acknowledged") return { state: "delivered", round: attempt[0], because: undefined };
  if (cancelled !== undefined && cancelled[0] >= (dead?.[0] ?? 0)) {
    return { state: "cancelled", round: cancelled[0], because: cancelled[1] };
  }
  return { state: "dead", round: dead?.[0] ?? 1, because: dead?.[1] };
}

/** It stays where it is, and its lane waits for it; without a lane it has no time at which it would be due. */
function isDeadHead({ lane, seq, lane_state, head_seq, ready_at }: PlaceColumns): boolean {
  return lane === 0n ? ready_at === null : lane_state !== "flowing" && seq === head_seq;
}

// A lease that has ended holds nothing: whoever claims next takes it.
function isUnderWay(
  { lane, seq, leased_by, ready_at, head_seq, run_len }: PlaceColumns,
  { nowMs }: OutboxTurn,
): boolean {
  if (leased_by === null || Number(ready_at) <= nowMs) return false;
  return lane === 0n || seq < (head_seq ?? 0n) + (run_len ?? 0n);
}

function dueInMs(turn: OutboxTurn, row: PlaceColumns, state: DeliveryState): number | undefined {
  const isFirst = row.lane === 0n || row.seq === row.head_seq;
  const waits = (state === "waiting" || state === "retrying") && isFirst && row.ready_at !== null;
  if (!waits || turn.activeEndpoint(row.endpoint) === undefined) return undefined;
  return Math.max(0, Number(row.ready_at) - turn.nowMs);
}

function parsed(json: string | null): unknown {
  return json === null ? undefined : (JSON.parse(json) as unknown);
}
