import type { DeadBecause } from "../library/src/lanes/dead.js";
import type { Claim, ClaimedDelivery, RunLimits } from "../library/src/lanes/lane-store.js";
import type { DeadPolicy } from "../library/src/lanes/dead.js";
import type { Place } from "../library/src/outbox/fan-out.js";
import { deliveryNameOf, laneKeyOf } from "./model-rows.js";
import type { DeliveryRow, EventRow, LaneRow, Rows } from "./model-rows.js";
import type { ModelRules } from "./model-rules.js";

/** What the functions of the model store work on. */
export interface Model {
  rows: Rows;
  readonly rules: ModelRules;
  /** Both times of the store's clock. */
  readonly clock: { now(): number; monotonic(): number };
}

/** Who takes a lane, for how long and how much of it. */
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
  const lane = laneAt(model, place, event);
  const wasEmpty = lane.deliveries.length === 0;
  lane.deliveries.push({ event, sequence: endOf(lane), round });
  if (wasEmpty && model.rules.arms(lane)) lane.readyAt = model.clock.monotonic();
}

function laneAt({ rows }: Model, { endpointId, laneKey }: Place, event: EventRow): LaneRow {
  const name = `${endpointId} ${laneKey ?? ""}`;
  const known = laneKey === undefined ? undefined : rows.lanes.get(rows.laneOf.get(name) ?? "");
  if (known !== undefined) return known;
  const lane: LaneRow = {
    kind: laneKey === undefined ? "loose" : "lane",
    id: rows.nextLane++,
    endpointId,
    key: laneKey,
    deliveries: [],
    // A lane that is made anew begins above what its receivers have seen.
    head: laneKey === undefined ? 0n : event.rowId,
    after: undefined,
    state: "flowing",
    readyAt: undefined,
    lease: undefined,
    epoch: 0n,
    attempts: 0,
    failures: 0,
    lapses: 0,
    suspectUntil: 0n,
    skipIntended: false,
    blockedAt: undefined,
  };
  rows.lanes.set(laneKeyOf(lane), lane);
  if (laneKey !== undefined) rows.laneOf.set(name, laneKeyOf(lane));
  return lane;
}

function endOf({ head, deliveries }: LaneRow): bigint {
  return head + BigInt(deliveries.length);
}

export function headOf(lane: LaneRow): DeliveryRow {
  const [head] = lane.deliveries;
  if (head === undefined)
    throw new Error(`Lane ${lane.id} of the model store is empty, and was taken for full.`);
  return head;
}

/** Leases a lane that nobody has. */
export function take(
  model: Model,
  lane: LaneRow,
  { taker, lastWasSettled }: { taker: Taker; lastWasSettled: boolean },
): Claim {
  const { clock, rows, rules } = model;
  const { worker, leaseMs, run: limits } = taker;
  const run = runOf(lane, rules.mayRun(lane, lastWasSettled) ? limits : { ...limits, maxEvents: 1 });
  lane.epoch = rules.nextEpoch(lane);
  const endsAt = rules.leaseEnd(clock.monotonic(), leaseMs);
  lane.lease = { worker, leaseMs, startedAtMs: clock.now(), endsAt, run: run.length };
  lane.readyAt = endsAt;
  const { kind, id, epoch, endpointId, key, after, attempts, failures } = lane;
  const [head, ...others] = run.map((delivery) => claimedOf(model, delivery));
  return {
    kind,
    id,
    epoch,
    consumer: { id: endpointId, version: rows.endpoints.get(endpointId)?.version ?? 0 },
    lane: key === undefined ? undefined : { generation: 1n, key },
    after,
    run: [head as ClaimedDelivery, ...others],
    attempts,
    failures,
  };
}

function runOf(lane: LaneRow, { maxEvents, maxBytes }: RunLimits): readonly DeliveryRow[] {
  let bytes = 0;
  return lane.deliveries.slice(0, Math.max(1, maxEvents)).filter(({ event }, index) => {
    bytes += event.body.length;
    return index === 0 || bytes <= maxBytes;
  });
}

function claimedOf({ clock, rules }: Model, { sequence, round, event }: DeliveryRow): ClaimedDelivery {
  const { id, type, body, contentType, time, headers, expiresAt } = event;
  return {
    sequence,
    round,
    event: { id, type, body: body.slice(), contentType, time, headers },
    expiresInMs: expiresAt && rules.expiresInMs(expiresAt.getTime(), clock.now()),
  };
}

/** Ends the lease: the head is due at this time, unless the lane stands still. */
export function rest(lane: LaneRow, readyAt: number): void {
  lane.lease = undefined;
  lane.readyAt = lane.state === "flowing" && lane.deliveries.length > 0 ? readyAt : undefined;
}

export function acknowledgeHead(lane: LaneRow): void {
  lane.after = lane.head;
  passHead(lane);
}

/** The next one becomes the head, with nothing of what the last one went through. */
export function passHead(lane: LaneRow): void {
  lane.deliveries.shift();
  lane.head += 1n;
  startAgain(lane);
}

/** The dead head is due again, in its place. */
export function reviveHead({ rules, clock }: Model, lane: LaneRow): void {
  const dead = headOf(lane);
  lane.deliveries[0] = { ...dead, round: rules.redrivenRound(dead.round) };
  startAgain(lane);
  rest(lane, clock.monotonic());
}

function startAgain(lane: LaneRow): void {
  lane.state = "flowing";
  lane.attempts = 0;
  lane.failures = 0;
  lane.lapses = 0;
  lane.skipIntended = false;
  lane.blockedAt = undefined;
}

/** Gives up the head: its lane stands still, or goes on past the gap. */
export function killHead(
  { rows, rules, clock }: Model,
  lane: LaneRow,
  { because, policy }: { readonly because: DeadBecause; readonly policy: DeadPolicy },
): void {
  const delivery = headOf(lane);
  const { kind, endpointId, key, attempts } = lane;
  const id = deliveryNameOf(lane, delivery.sequence);
  const number = ++rows.died;
  const laneKey = laneKeyOf(lane);
  if (rules.recordsDead || policy !== "skip") {
    const of = { kind, endpointId, key };
    rows.dead.set(id, { id, number, laneKey, lane: of, delivery, because, diedAtMs: clock.now(), attempts });
  }
  if (kind === "lane" && (policy === "skip" || !rules.stopsAtDead)) return passHead(lane);
  lane.state = policy === "park" ? "parked" : "halted";
  lane.blockedAt ??= clock.monotonic();
}

/** The head will never be sent: that is written down, and the lane goes on past the gap. */
export function cancelHead({ rows, rules }: Model, lane: LaneRow, because: string): void {
  const { event } = headOf(lane);
  if (rules.recordsCancelled)
    rows.cancelled.push({ endpointId: lane.endpointId, eventId: event.id, because });
  passHead(lane);
}
