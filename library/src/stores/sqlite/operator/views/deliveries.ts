import { deliveryIdOf, parseDeliveryId } from "../../../../lanes/delivery-id.js";
import type { DeliveryState, DeliverySummary } from "../../../../operator/lookup-store.js";
import { withoutNul } from "../../inbox/inbox-row.js";
import type { RecordPlace } from "../../lanes/attempt-rows.js";
import type { OutboxTurn } from "../../outbox/turn.js";
import { recordPlaceOf } from "./attempts.js";

/** A place that an event was given, and everything that could say what became of it there. */
interface PlaceColumns {
  readonly lane: bigint;
  readonly seq: bigint;
  readonly consumer: bigint;
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
  /** The last attempt; all null where there was none. */
  readonly attempt_round: bigint | null;
  readonly attempt_no: bigint | null;
  readonly started_at: bigint | null;
  readonly outcome: string | null;
  readonly status: bigint | null;
  readonly error: string | null;
  /** The last record of its end; null where there is none of this kind. */
  readonly dead_round: bigint | null;
  readonly dead_because: string | null;
  readonly cancelled_round: bigint | null;
  readonly cancelled_because: string | null;
}

// A lane in which nothing waits has no lease; a loose delivery is its own lane.
const SELECT = `select p.lane, p.seq, p.consumer, c.public_id as endpoint_id, e.public_id as event_id, e.tenant, e.type,
    e.key as event_key, l.key as lane_key, l.state as lane_state, l.head_seq, l.run_len,
    coalesce(d.round, x.round) as round, coalesce(l.ready_at, x.ready_at) as ready_at,
    coalesce(l.leased_by, x.leased_by) as leased_by, a.round as attempt_round, a.no as attempt_no, a.started_at,
    a.outcome, a.status, a.error, g.round as dead_round, g.because as dead_because, k.round as cancelled_round,
    k.because as cancelled_because
  from posthorn_place p
  cross join posthorn_event e on e.id = p.event
  cross join posthorn_consumer c on c.id = p.consumer
  left join posthorn_lane l on p.lane <> 0 and l.id = p.lane
  left join posthorn_delivery d on d.lane = p.lane and d.seq = p.seq
  left join posthorn_loose_delivery x on p.lane = 0 and x.id = p.seq
  left join posthorn_attempt a on a.lane = p.lane and a.seq = p.seq and (a.round, a.no) =
    (select round, no from posthorn_attempt where lane = p.lane and seq = p.seq order by round desc, no desc limit 1)
  left join posthorn_dead g on g.lane = p.lane and g.seq = p.seq and g.round =
    (select max(round) from posthorn_dead where lane = p.lane and seq = p.seq)
  left join posthorn_cancelled k on k.lane = p.lane and k.seq = p.seq and k.round =
    (select max(round) from posthorn_cancelled where lane = p.lane and seq = p.seq)`;

/** Every delivery of these events, in the order in which they were sequenced. */
export function deliveriesOf(
  turn: OutboxTurn,
  tenant: string,
  eventIds: readonly string[],
): DeliverySummary[] {
  const events = turn.client.allWide(
    `select e.id from json_each(?) cross join posthorn_event e indexed by posthorn_event_public_id
     on e.public_id = json_each.value and e.tenant = ?`,
    JSON.stringify([...new Set(eventIds)]),
    withoutNul(tenant),
  ) as { id: bigint }[];
  const inOrder = events.map(({ id }) => id).toSorted((left, right) => (left < right ? -1 : 1));
  return inOrder.flatMap((event) => {
    const rows = turn.client.allWide(
      `${SELECT} where p.event = ? order by p.event, p.consumer, p.lane, p.seq`,
      event,
    ) as PlaceColumns[];
    return rows.map((row) => summaryOf(turn, row));
  });
}

/** Undefined where there was never one of this id. */
export function findDelivery(turn: OutboxTurn, id: string): DeliverySummary | undefined {
  const parsed = parseDeliveryId(id);
  if (parsed === undefined) return undefined;
  const place = recordPlaceOf(parsed);
  const event = eventAt(turn, place);
  if (event === undefined) return undefined;
  const row = turn.client.getWide(
    `${SELECT} where p.event = ? and p.lane = ? and p.seq = ?`,
    event,
    place.lane,
    place.seq,
  );
  return row === undefined ? undefined : summaryOf(turn, row as PlaceColumns);
}

/** Places are found by their events; whichever record a delivery has left names its event. */
function eventAt({ client }: OutboxTurn, { lane, seq }: RecordPlace): bigint | undefined {
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
  const { state, round, because } = standingOf(turn, row);
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
    ...lastAttempt(row, round),
    dueInMs: dueInMs(turn, row, state),
  };
}

type LastAttempt = Pick<DeliverySummary, "attempts" | "lastStatus" | "lastError" | "lastAttemptAt">;

/** The last attempt of this round alone; earlier rounds are listed by `attempts`. */
function lastAttempt(row: PlaceColumns, round: number): LastAttempt {
  const { attempt_round, attempt_no, status, error, started_at } = row;
  if (attempt_round === null || Number(attempt_round) !== round) {
    return { attempts: 0, lastStatus: undefined, lastError: undefined, lastAttemptAt: undefined };
  }
  return {
    attempts: Number(attempt_no),
    lastStatus: status === null ? undefined : Number(status),
    lastError: error ?? undefined,
    lastAttemptAt: new Date(Number(started_at)),
  };
}

interface Standing {
  readonly state: DeliveryState;
  readonly round: number;
  readonly because: string | undefined;
}

function standingOf(turn: OutboxTurn, row: PlaceColumns): Standing {
  if (row.round === null) return endedOf(row);
  const round = Number(row.round);
  if (isDeadHead(row)) return { state: "dead", round, because: row.dead_because ?? undefined };
  const triedNow = row.attempt_round === row.round;
  const state = isUnderWay(row, turn) ? "under_way" : triedNow ? "retrying" : "waiting";
  return { state, round, because: undefined };
}

/** What the record of the last round says. */
function endedOf(row: PlaceColumns): Standing {
  const { attempt_round, outcome, dead_round, dead_because, cancelled_round, cancelled_because } = row;
  if (outcome === "acknowledged")
    return { state: "delivered", round: Number(attempt_round), because: undefined };
  if (cancelled_round !== null && cancelled_round >= (dead_round ?? 0n)) {
    return { state: "cancelled", round: Number(cancelled_round), because: cancelled_because ?? undefined };
  }
  // A handler that succeeds in its first round leaves a row of the inbox and no attempt.
  if (dead_round === null) return { state: "delivered", round: 1, because: undefined };
  return { state: "dead", round: Number(dead_round), because: dead_because ?? undefined };
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
  if (!waits || turn.activeConsumer(row.consumer) === undefined) return undefined;
  return Math.max(0, Number(row.ready_at) - turn.nowMs);
}
