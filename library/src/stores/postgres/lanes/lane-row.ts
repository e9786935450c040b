import type { DeadPolicy } from "../../../lanes/dead.js";
import type { Claim, ClaimedDelivery } from "../../../lanes/lane-store.js";
import type { Lane, LaneIdentity, LaneState, Lease } from "../../../lanes/lane.js";
import {
  bigint,
  boolean,
  bytes,
  columns,
  instant,
  milliseconds,
  number,
  optional,
  text,
} from "../client/columns.js";
import { readReceipt } from "../../../receipt.js";
import type { Row } from "../client/database.js";
import { stateNow } from "../outbox/consumer-state.js";
import type { Tables } from "../schema/tables.js";

/** A lane, or a loose delivery, that this transaction has locked. */
export interface LockedLane {
  readonly lane: Lane;
  readonly identity: LaneIdentity;
  /** The number by which rows refer to its consumer. */
  readonly consumer: bigint;
  /** Whether its consumer may be sent anything. */
  readonly active: boolean;
  /** What a dead delivery of its consumer does to its lane, where that was said. */
  readonly dead: DeadPolicy | undefined;
  /** True where there is a lease, and its time is over. */
  readonly leaseHasEnded: boolean;
  /** What was read of its deliveries, in order. */
  readonly deliveries: readonly ClaimedDelivery[];
  /** Those of them that are there, but whose event is not. */
  readonly orphans: readonly Orphan[];
}

/** A delivery whose event somebody has deleted. */
export interface Orphan extends Pick<ClaimedDelivery, "sequence" | "round"> {}

/** What a lane is made of, to be selected from lane_state by whoever locks it. */
export const LANE_COLUMNS = `'lane' as kind, lane_id as id, consumer_id, state, epoch, head_seq, next_seq, last_seq,
          attempts, failures, lapses, run_len, suspect_until, intent is not null as skip_intended,
          blocked_at is not null as is_blocked, leased_at, leased_until, null::int8 as event_id, null::int4 as round`;

/** The same of a loose delivery, which is a lane of one: head 0, end 1, halted when it is dead. */
export const LOOSE_COLUMNS = `'loose' as kind, id, consumer_id,
          case when ready_at is null then 'halted' else 'flowing' end as state, epoch, 0::int8 as head_seq,
          1::int8 as next_seq, null::int8 as last_seq, attempts, failures, lapses, 1::int2 as run_len,
          null::int8 as suspect_until, false as skip_intended, false as is_blocked, leased_at, leased_until, event_id,
          round`;

/** The names of both, in their order. */
export const LOCKED_NAMES = `kind, id, consumer_id, state, epoch, head_seq, next_seq, last_seq, attempts, failures,
        lapses, run_len, suspect_until, skip_intended, is_blocked, leased_at, leased_until, event_id, round`;

interface LaneValues {
  readonly n: number;
  readonly kind: Claim["kind"];
  readonly id: bigint;
  readonly consumer: bigint;
  readonly state: LaneState;
  readonly epoch: bigint;
  readonly head: bigint;
  readonly end: bigint;
  readonly last: bigint | undefined;
  readonly attempts: number;
  readonly failures: number;
  readonly lapses: number;
  readonly runLength: number;
  readonly suspectUntil: bigint | undefined;
  readonly skipIntended: boolean;
  readonly isBlocked: boolean;
  readonly leasedAt: Date | undefined;
  readonly leasedMs: number | undefined;
  readonly leaseHasEnded: boolean | undefined;
  readonly consumerId: string;
  readonly consumerVersion: number;
  readonly consumerMark: string;
  readonly active: boolean;
  readonly dead: DeadPolicy | undefined;
  readonly generation: bigint | undefined;
  readonly key: string | undefined;
  readonly looseRound: number | undefined;
}

const LANE = columns<LaneValues>({
  n: number("locked.n"),
  kind: text("locked.kind"),
  id: bigint("locked.id"),
  consumer: bigint("locked.consumer_id"),
  state: text("locked.state"),
  epoch: bigint("locked.epoch"),
  head: bigint("head_seq"),
  end: bigint("next_seq"),
  last: optional(bigint("last_seq")),
  attempts: number("attempts"),
  failures: number("failures"),
  lapses: number("lapses"),
  runLength: number("run_len"),
  suspectUntil: optional(bigint("suspect_until")),
  skipIntended: boolean("skip_intended"),
  isBlocked: boolean("is_blocked"),
  leasedAt: optional(instant("leased_at")),
  leasedMs: optional(milliseconds("leased_until - leased_at")),
  leaseHasEnded: optional(boolean("leased_until <= clock_timestamp()")),
  consumerId: text("consumer.public_id"),
  consumerVersion: number("consumer.version"),
  consumerMark: text("consumer.mark::text"),
  active: boolean(`${stateNow("consumer")} = 'active' and removed_at is null`),
  dead: optional(text("consumer.dead")),
  generation: optional(bigint("lane.generation")),
  key: optional(text("lane.key")),
  looseRound: optional(number("locked.round")),
});

interface DeliveryValues {
  readonly sequence: bigint;
  readonly round: number | undefined;
  readonly eventId: string | undefined;
  readonly tenant: string | undefined;
  readonly source: string | undefined;
  readonly type: string | undefined;
  readonly contentType: string | undefined;
  readonly time: Date | undefined;
  readonly expiresInMs: number | undefined;
  readonly headers: string | undefined;
  readonly receipt: string | undefined;
  readonly body: Uint8Array | undefined;
}

// A body above this ends a run before it: the server must not send many great ones of which one fits.
export const MAX_RUN_BODY = 65_536;

const DELIVERY = columns<DeliveryValues>({
  // A loose delivery has none.
  sequence: bigint("coalesce(placed.seq, 0)"),
  round: optional(number("coalesce(placed.round, locked.round)")),
  eventId: optional(text("event.public_id")),
  tenant: optional(text("event.tenant")),
  source: optional(text("event.source")),
  type: optional(text("event.type")),
  contentType: optional(text("content_type")),
  time: optional(instant("event_at")),
  expiresInMs: optional(milliseconds("expires_at - clock_timestamp()")),
  headers: optional(text("headers")),
  receipt: optional(text("receipt")),
  body: optional(
    bytes(
      `case when placed.seq is null or placed.seq = read_from or octet_length(body) <= ${MAX_RUN_BODY} then body end`,
    ),
  ),
});

/**
 * Reads what `locked` has locked, with its consumer, its name and its next deliveries. It has the columns n (its place
 * in the answer), {@link LOCKED_NAMES}, read_from (the first sequence to read) and read_max (how many; 0 for none).
 * Tables are asked for one locked row at a time, by their keys, and the limits keep the planner from making joins of
 * that: in a join that was planned when a vacuum had just found the tables empty, all events were read for each row,
 * until a vacuum found more.
 */
export function readLockedSql(locked: string, { consumer, lane, delivery, event }: Tables): string {
  return `
    select ${LANE.list}, ${DELIVERY.list}
    from ${locked} as locked
    cross join lateral (
      select public_id, version, mark, state, paused_until, removed_at, dead from ${consumer} as consumer
      where consumer.id = locked.consumer_id limit 1
    ) as consumer
    left join lateral (
      select generation, key from ${lane} as lane where locked.kind = 'lane' and lane.lane_id = locked.id limit 1
    ) as lane on true
    left join lateral (
      select seq, event_id, round from ${delivery} as placed
      where locked.kind = 'lane' and placed.lane_id = locked.id
        and placed.seq >= read_from and placed.seq < read_from + read_max
      limit read_max
    ) as placed on true
    left join lateral (
      select public_id, tenant, source, type, content_type, event_at, expires_at, headers, receipt, body
      from ${event} as event
      where read_max > 0 and event.id = coalesce(placed.event_id, locked.event_id) limit 1
    ) as event on true
    order by locked.n, placed.seq`;
}

/** The rows of {@link readLockedSql}, by their places in the answer. */
export function lockedLanesOf(answer: readonly Row[]): ReadonlyMap<number, LockedLane> {
  const lanes = new Map<number, LaneRows>();
  for (const row of answer) {
    const n = Number(row[0]);
    const known = lanes.get(n) ?? { values: LANE.read(row), deliveries: [], orphans: [] };
    lanes.set(n, known);
    const values = DELIVERY.read(row, LANE.size);
    const delivery = deliveryOf(values);
    if (delivery) known.deliveries.push(delivery);
    // It has a round, so that it is there; its event was asked for, and is not.
    else if (values.round !== undefined && values.eventId === undefined)
      known.orphans.push({ sequence: values.sequence, round: values.round });
  }
  return new Map([...lanes].map(([n, rows]) => [n, lockedLaneOf(rows)]));
}

/** What was read of one lane. */
interface LaneRows {
  readonly values: LaneValues;
  readonly deliveries: ClaimedDelivery[];
  readonly orphans: Orphan[];
}

/** Undefined where the delivery or its event is not there, or its body was not read. */
function deliveryOf(values: DeliveryValues): ClaimedDelivery | undefined {
  const { sequence, round, eventId, type, contentType, time, expiresInMs, headers, receipt, body } = values;
  if (eventId === undefined || body === undefined || time === undefined) return undefined;
  return {
    sequence,
    round: round ?? 1,
    event: {
      id: eventId,
      tenant: values.tenant ?? "",
      source: values.source ?? "",
      type: type ?? "",
      body,
      contentType: contentType ?? "",
      time,
      headers: headers === undefined ? undefined : headersOf(headers),
      receipt: receipt === undefined ? undefined : readReceipt(receipt),
    },
    expiresInMs,
  };
}

function lockedLaneOf({ values, deliveries, orphans }: LaneRows): LockedLane {
  const { kind, id, state, epoch, head, end, last, attempts, failures, lapses, suspectUntil } = values;
  const { skipIntended, isBlocked, generation, key } = values;
  // A lane's row does not hold the head's round: whoever asks for it reads the head too. A loose delivery's own row has it.
  // A head without its event has one as well: redriven twice, it would die twice in one round, and that fails for ever.
  const isHead = ({ sequence }: Orphan): boolean => sequence === head;
  const headRow = deliveries.find(isHead) ?? orphans.find(isHead);
  const round = values.looseRound ?? headRow?.round ?? 1;
  const counts = { attempts, failures, lapses };
  const blocked = isBlocked;
  const lease = leaseOf(values);
  return {
    lane: {
      kind,
      state,
      epoch,
      head,
      end,
      last,
      round,
      ...counts,
      suspectUntil,
      skipIntended,
      blocked,
      lease,
    },
    identity: {
      kind,
      id,
      consumer: { id: values.consumerId, version: values.consumerVersion, mark: values.consumerMark },
      lane: generation === undefined || key === undefined ? undefined : { generation, key },
    },
    consumer: values.consumer,
    active: values.active,
    dead: values.dead,
    leaseHasEnded: values.leaseHasEnded === true,
    deliveries,
    orphans,
  };
}

function leaseOf({ leasedAt, leasedMs, runLength }: LaneValues): Lease | undefined {
  if (leasedAt === undefined || leasedMs === undefined) return undefined;
  return { startedAt: leasedAt, durationMs: leasedMs, run: runLength };
}

/** As they stand in the table of events. */
export function headersOf(json: string): Readonly<Record<string, string>> {
  return JSON.parse(json) as Record<string, string>;
}
