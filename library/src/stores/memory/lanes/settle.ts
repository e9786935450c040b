import type { NextState, Settled, Settlement, SettleRequest } from "../../../lanes/lane-store.js";
import type { Claims } from "./claim.js";
import type { Lane } from "./lane.js";
import { cancelHead, killHead, runsAlone } from "../outbox/parts.js";
import type { OutboxParts } from "../outbox/parts.js";

/** Writes what a worker did with one claim. Nothing awaits here: attempts and next state are there together. */
export function settleOne(
  parts: OutboxParts,
  claims: Claims,
  settlement: Settlement,
  request: SettleRequest,
): Settled {
  const { claim, attempts, next } = settlement;
  const lane = parts.lanes.find(claim.kind, claim.id);
  // Whether the lease has ended does not matter as long as nobody else has claimed it: what was done was done.
  if (lane?.lease === undefined || lane.epoch !== claim.epoch) return { kind: "stale" };
  for (const attempt of attempts) parts.history.addAttempt(lane, attempt);
  for (let n = 0; n < settlement.acknowledged; n++) lane.acknowledgeHead();
  const waitMs = lane.isEmpty ? 0 : settleHead(parts, lane, settlement);
  lane.rest(parts.clock.monotonic() + waitMs);
  return { kind: "settled", next: next && isFree(parts, lane) ? claims.take(lane, request) : undefined };
}

/** Settles the first delivery that was not acknowledged, and says how long what is the head then has to wait. */
function settleHead(parts: OutboxParts, lane: Lane, { attempts, rest }: Settlement): number {
  const tried = attempts.filter(({ sequence }) => sequence === lane.head).length;
  lane.attempts += tried;
  if (tried > 0) lane.blockedAt ??= parts.clock.monotonic();
  if (rest?.state === "disabled") {
    parts.endpoints.change(lane.endpointId, { state: "disabled", because: rest.because });
  }
  // An operator wanted it passed over unless it succeeds, and it did not.
  if (lane.skipIntended) cancelHead(parts, lane, "skipped");
  else if (rest !== undefined) return applyNext(parts, lane, { rest, tried });
  return 0;
}

function applyNext(
  parts: OutboxParts,
  lane: Lane,
  { rest, tried }: { readonly rest: NextState; readonly tried: number },
): number {
  switch (rest.state) {
    case "due":
      if (rest.counts) lane.failures += 1;
      return rest.afterMs;
    case "dead":
      // The last failure too: an operator would be shown one attempt fewer than were made.
      if (tried > 0) lane.failures += 1;
      killHead(parts, lane, rest);
      return 0;
    case "cancelled":
      cancelHead(parts, lane, rest.because);
      return 0;
    case "disabled":
      return 0;
  }
}

/** Whether the worker that has just settled the lane may go on with it. */
function isFree({ clock, endpoints }: OutboxParts, lane: Lane): boolean {
  if (lane.readyAt === undefined || lane.readyAt > clock.monotonic()) return false;
  return lane.kind === "lane" && endpoints.isActive(lane.endpointId) && !runsAlone(lane);
}
