import type { Lane } from "../../../lanes/lane.js";
import type { Claim, ClaimedDelivery } from "../../../lanes/lane-store.js";
import { deliveryIdOf } from "../../../lanes/delivery-id.js";
import type { StoredEvent } from "../outbox/event-log.js";

/** One event in one lane, or in none. */
export interface Delivery {
  readonly event: StoredEvent;
  readonly sequence: bigint;
  readonly round: number;
}

/** Who has a lane, until when, and how many of its deliveries. */
export interface LeaseRow {
  readonly worker: string;
  /** By the wall clock, for history. */
  readonly startedAt: Date;
  readonly durationMs: number;
  /** By the monotonic clock, as every other time of a lane: a wall clock that is set must end no lease. */
  readonly endsAt: number;
  readonly run: number;
}

/** A lane as the memory store keeps it. A delivery without a lane is a row of kind `loose` that holds nothing else. */
export interface LaneRow extends Pick<Lane, "kind"> {
  readonly id: bigint;
  /** Its consumer, which may be a handler. */
  readonly endpointId: string;
  /** Of a handler's lane; an endpoint's lanes leave both "". */
  readonly tenant: string;
  readonly source: string;
  readonly key: string | undefined;
  /** Grows with every lane that is removed: sequences compare only within it. */
  generation: bigint;
  /** What waits, by its sequence. */
  readonly deliveries: Map<bigint, Delivery>;
  state: Lane["state"];
  epoch: bigint;
  head: bigint;
  end: bigint;
  last: bigint | undefined;
  attempts: number;
  failures: number;
  lapses: number;
  suspectUntil: bigint | undefined;
  skipIntended: boolean;
  /** When its head first failed. */
  blockedAt: number | undefined;
  /** When the head may be claimed; the lease's end while there is one. */
  readyAt: number | undefined;
  lease: LeaseRow | undefined;
}

/** Where a lane belongs. */
export interface NewLane extends Pick<
  LaneRow,
  "kind" | "id" | "endpointId" | "tenant" | "source" | "key" | "generation"
> {
  readonly firstSequence: bigint;
}

export function emptyLane({ firstSequence, ...name }: NewLane): LaneRow {
  return {
    ...name,
    deliveries: new Map(),
    state: "flowing",
    epoch: 0n,
    head: firstSequence,
    end: firstSequence,
    last: undefined,
    attempts: 0,
    failures: 0,
    lapses: 0,
    suspectUntil: undefined,
    skipIntended: false,
    blockedAt: undefined,
    readyAt: undefined,
    lease: undefined,
  };
}

export function isEmpty({ head, end }: Pick<LaneRow, "head" | "end">): boolean {
  return head === end;
}

export function headOf({ id, head, deliveries }: LaneRow): Delivery {
  const delivery = deliveries.get(head);
  if (delivery === undefined) throw new Error(`Lane ${id} has no delivery ${head} at its head.`);
  return delivery;
}

/** The lane as the rule of lanes wants to see it. */
export function laneOf(row: LaneRow): Lane {
  const { kind, state, epoch, head, end, last, attempts, failures, lapses } = row;
  const { suspectUntil, skipIntended, blockedAt, lease, deliveries } = row;
  const round = deliveries.get(head)?.round ?? 1;
  const counters = { round, attempts, failures, lapses };
  const blocked = blockedAt !== undefined;
  return { kind, state, epoch, head, end, last, ...counters, suspectUntil, skipIntended, blocked, lease };
}

/** The delivery of a claim, with bytes and dates of its own. */
export function claimedOf({ sequence, round, event }: Delivery, wallMs: number): ClaimedDelivery {
  const { id, tenant, source, type, body, contentType, time, headers, receipt, expiresAt } = event;
  const copied = { body: body.slice(), time: new Date(time), headers: headers && { ...headers } };
  const expiresInMs = expiresAt === undefined ? undefined : expiresAt.getTime() - wallMs;
  const known = { id, tenant, source, type, contentType, receipt };
  return { sequence, round, event: { ...known, ...copied }, expiresInMs };
}

/** The id of a delivery, by its place. */
export function idOf({ kind, id }: Pick<Claim, "kind" | "id">, sequence: bigint): string {
  return deliveryIdOf(kind === "lane" ? { kind, lane: id, sequence } : { kind, id });
}
