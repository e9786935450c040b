import type { NextState, Settled, Settlement, SettleRequest } from "../library/src/lanes/lane-store.js";
import { changeEndpoint } from "./model-endpoints.js";
import { acknowledgeHead, cancelHead, headOf, killHead, passHead, rest, take } from "./model-lanes.js";
import type { Model } from "./model-lanes.js";
import { deliveryNameOf, laneKeyOf } from "./model-rows.js";
import type { LaneRow } from "./model-rows.js";

/** Writes what a worker did with one claim, attempts and next state together. */
export function settle(model: Model, settlement: Settlement, request: SettleRequest): Settled {
  const { clock, rows, rules } = model;
  const lane = rows.lanes.get(laneKeyOf(settlement.claim));
  // Whether the lease has ended does not matter as long as nobody else has claimed it: what was done was done.
  if (lane === undefined || !rules.isCurrent(lane, settlement.claim)) return { kind: "stale" };
  writeAttempts(model, lane, settlement);
  const run = settlement.claim.run.length;
  const acknowledged = Math.min(rules.acknowledges(settlement.acknowledged, run), lane.deliveries.length);
  for (let n = 0; n < acknowledged; n++) acknowledgeHead(lane);
  const dueAt = lane.deliveries.length === 0 ? clock.monotonic() : settleHead(model, lane, settlement);
  rest(lane, dueAt);
  if (lane.kind === "loose" && lane.deliveries.length === 0) rows.lanes.delete(laneKeyOf(lane));
  if (!settlement.next || !isFree(model, lane)) return { kind: "settled", next: undefined };
  return { kind: "settled", next: take(model, lane, { taker: request, lastWasSettled: true }) };
}

function writeAttempts({ rows, rules }: Model, lane: LaneRow, { attempts }: Settlement): void {
  if (!rules.keepsAttempts) return;
  for (const attempt of attempts) {
    const name = deliveryNameOf(lane, attempt.sequence);
    const known = rows.attempts.get(name) ?? [];
    if (known.some(({ round, number }) => round === attempt.round && number === attempt.number)) continue;
    known.push(attempt);
    rows.attempts.set(name, known);
  }
}

/** Settles the first delivery that was not acknowledged, and says when what is the head then is due. */
function settleHead(model: Model, lane: LaneRow, { attempts, rest: next }: Settlement): number {
  const { clock, rules } = model;
  const now = clock.monotonic();
  const tried = attempts.filter(({ sequence }) => sequence === lane.head).length;
  lane.attempts += tried;
  if (tried > 0) lane.blockedAt ??= now;
  if (next?.state === "disabled") {
    changeEndpoint(model, lane.endpointId, { state: "disabled", because: next.because });
  }
  // An operator wanted it passed over unless it succeeds, and it did not.
  if (lane.skipIntended && rules.appliesIntent) cancelHead(model, lane, "skipped");
  else if (next !== undefined) {
    if (next.state === "dead" && tried > 0) lane.failures += 1;
    return applyNext(model, lane, next);
  }
  return now;
}

function applyNext(model: Model, lane: LaneRow, next: NextState): number {
  const { clock, rules } = model;
  const now = clock.monotonic();
  switch (next.state) {
    case "due":
      if (next.counts) lane.failures += 1;
      if (!rules.failedStaysHead && lane.deliveries.length > 1) {
        const failed = headOf(lane);
        passHead(lane);
        lane.deliveries.push({ ...failed, sequence: lane.head + BigInt(lane.deliveries.length) });
        return now;
      }
      return rules.dueAt(now, next.afterMs);
    case "dead":
      killHead(model, lane, next);
      return now;
    case "cancelled":
      cancelHead(model, lane, next.because);
      return now;
    case "disabled":
      if (!rules.disabledKeepsHead) passHead(lane);
      return now;
  }
}

/** Whether the worker that has just settled the lane may go on with it. */
function isFree({ rows, rules, clock }: Model, lane: LaneRow): boolean {
  if (lane.readyAt === undefined || lane.readyAt > clock.monotonic()) return false;
  return (
    lane.kind === "lane" && rules.isActive(rows.endpoints.get(lane.endpointId)) && !rules.runsAlone(lane)
  );
}
