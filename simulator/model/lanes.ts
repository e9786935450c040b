import { fittingRun, leased } from "../../library/src/lanes/lane.js";
import type { Lane, LaneChange } from "../../library/src/lanes/lane.js";
import type { Claim, ClaimedDelivery, RunLimits } from "../../library/src/lanes/lane-store.js";
import type { Place } from "../../library/src/outbox/fan-out.js";
import { disableEndpoint } from "./endpoints.js";
import type { Model } from "./model.js";
import { deliveryNameOf, laneKeyOf } from "./rows.js";
import type { DeliveryRow, EventRow, LaneRow } from "./rows.js";

/** Who leases a lane, for how long and how much of it. */
export interface Taker {
  readonly worker: string;
  readonly leaseMs: number;
  readonly run: RunLimits;
}

/** Puts an event at the end of its lane, or beside all lanes where it has no key. */
export function appendTo(
  model: Model,
  place: Place,
  { event, round }: { event: EventRow; round: number },
): void {
  const row = laneAt(model, place, event);
  const arms = model.rules.lane.arms(laneOf(row));
  row.deliveries.push({ event, sequence: endOf(row), round });
  if (arms) row.readyAt = model.clock.monotonic();
}

function laneAt({ rows }: Model, { consumerId: endpointId, lane }: Place, event: EventRow): LaneRow {
  const laneKey = lane?.key;
  const name = `${endpointId} ${laneKey ?? ""}`;
  const known = laneKey === undefined ? undefined : rows.lanes.get(rows.laneOf.get(name) ?? "");
  if (known !== undefined) return known;
  const row: LaneRow = {
    kind: laneKey === undefined ? "loose" : "lane",
    id: rows.nextLane++,
    endpointId,
    key: laneKey,
    generation: rows.generation,
    deliveries: [],
    // A lane that is made anew begins above what its receivers have seen.
    head: laneKey === undefined ? 0n : event.rowId,
    last: undefined,
    state: "flowing",
    readyAt: undefined,
    lease: undefined,
    epoch: 0n,
    attempts: 0,
    failures: 0,
    lapses: 0,
    suspectUntil: undefined,
    skipIntended: false,
    blockedAt: undefined,
  };
  rows.lanes.set(laneKeyOf(row), row);
  if (laneKey !== undefined) rows.laneOf.set(name, laneKeyOf(row));
  return row;
}

function endOf({ head, deliveries }: LaneRow): bigint {
  return head + BigInt(deliveries.length);
}

export function headOf(row: LaneRow): DeliveryRow {
  const [head] = row.deliveries;
  if (head === undefined)
    throw new Error(`Lane ${row.id} of the model store is empty, and was taken for full.`);
  return head;
}

/** The lane as the rule wants to see it. */
export function laneOf(row: LaneRow): Lane {
  return {
    kind: row.kind,
    state: row.state,
    epoch: row.epoch,
    head: row.head,
    end: endOf(row),
    last: row.last,
    round: row.deliveries[0]?.round ?? 1,
    attempts: row.attempts,
    failures: row.failures,
    lapses: row.lapses,
    suspectUntil: row.suspectUntil,
    skipIntended: row.skipIntended,
    blocked: row.blockedAt !== undefined,
    lease: row.lease,
  };
}

/** Writes all that the rule says of a lane: what was tried, what ended, and the lane itself. */
export function write(model: Model, row: LaneRow, change: LaneChange): void {
  const { rows, clock } = model;
  record(model, row, change);
  if (change.disabled !== undefined) disableEndpoint(model, row.endpointId, change.disabled);
  const [head] = row.deliveries;
  if (change.head > row.head) row.deliveries.splice(0, Number(change.head - row.head));
  else if (head !== undefined && head.round !== change.round)
    row.deliveries[0] = { ...head, round: change.round };
  const now = clock.monotonic();
  row.state = change.state;
  row.epoch = change.epoch;
  row.head = change.head;
  row.last = change.last;
  row.attempts = change.attempts;
  row.failures = change.failures;
  row.lapses = change.lapses;
  row.suspectUntil = change.suspectUntil;
  row.skipIntended = change.skipIntended;
  row.lease = undefined;
  row.readyAt = change.readyAfterMs === undefined ? undefined : now + change.readyAfterMs;
  if (change.blocked !== "keep") row.blockedAt = change.blocked === "now" ? now : undefined;
  if (row.kind === "loose" && row.deliveries.length === 0) rows.lanes.delete(laneKeyOf(row));
}

function record({ rows, clock }: Model, row: LaneRow, { tried, dead, cancelled }: LaneChange): void {
  const { kind, endpointId, key } = row;
  for (const attempt of tried) {
    const name = deliveryNameOf(row, attempt.sequence);
    const known = rows.attempts.get(name) ?? [];
    if (known.some(({ round, number }) => round === attempt.round && number === attempt.number)) continue;
    known.push(attempt);
    rows.attempts.set(name, known);
  }
  if (dead !== undefined) {
    const { sequence, because, attempts, last } = dead;
    const id = deliveryNameOf(row, sequence);
    const delivery = deliveryAt(row, sequence);
    const where = { laneKey: laneKeyOf(row), lane: { kind, endpointId, key } };
    const number = ++rows.died;
    rows.dead.set(id, {
      id,
      number,
      ...where,
      delivery,
      because,
      diedAtMs: clock.now(),
      attempts,
      last,
      skipped: false,
    });
  }
  if (cancelled !== undefined) {
    const { event } = deliveryAt(row, cancelled.sequence);
    rows.cancelled.push({ endpointId, eventId: event.id, because: cancelled.because });
  }
}

function deliveryAt(row: LaneRow, sequence: bigint): DeliveryRow {
  const delivery = row.deliveries[Number(sequence - row.head)];
  if (delivery === undefined) throw new Error(`Lane ${row.id} of the model store has no ${sequence}.`);
  return delivery;
}

/** Leases a lane that nobody has, as far as the rule allows; undefined where it allows nothing. */
export function lease(
  model: Model,
  row: LaneRow,
  change: LaneChange,
  { worker, leaseMs, run: limits }: Taker,
): Claim | undefined {
  if (change.leasable === "nothing") return undefined;
  const { clock, rows, rules } = model;
  const { kind, id, endpointId, key, generation } = row;
  const sizes = row.deliveries.slice(0, Math.max(1, limits.maxEvents)).map(({ event }) => event.body.length);
  const run = row.deliveries.slice(0, fittingRun(sizes, limits, change.leasable));
  const claimed = run.map((delivery) => claimedOf(model, delivery)) as [ClaimedDelivery];
  const consumer = { id: endpointId, version: rows.endpoints.get(endpointId)?.version ?? 0 };
  const lane = key === undefined ? undefined : { generation, key };
  const claim = leased({ kind, id, consumer, lane }, change, claimed);
  const endsAt = rules.leaseEnd(clock.monotonic(), leaseMs);
  row.epoch = claim.epoch;
  row.lease = { worker, startedAt: new Date(clock.now()), durationMs: leaseMs, endsAt, run: run.length };
  row.readyAt = endsAt;
  return claim;
}

function claimedOf({ clock, rules }: Model, { sequence, round, event }: DeliveryRow): ClaimedDelivery {
  const { id, tenant, source, type, body, contentType, time, headers, expiresAt } = event;
  return {
    sequence,
    round,
    event: { id, tenant, source, type, body: body.slice(), contentType, time, headers },
    expiresInMs: expiresAt && rules.expiresInMs(expiresAt.getTime(), clock.now()),
  };
}
