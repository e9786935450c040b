import type {
  BlockedLane,
  DeadLetter,
  Page,
  Paged,
  Redriven,
  Skipped,
} from "../library/src/operator/operator-store.js";
import { cancelHead, headOf, passHead, rest, reviveHead } from "./model-lanes.js";
import type { Model } from "./model-lanes.js";
import type { DeadRow, LaneRow } from "./model-rows.js";

export function redrive(model: Model, deliveryId: string): Redriven {
  const { rows, rules } = model;
  const row = rows.dead.get(deliveryId);
  if (row === undefined || !rows.endpoints.has(row.lane.endpointId)) return "unknown";
  if (rules.forgetsDeadAtRedrive) rows.dead.delete(deliveryId);
  const lane = rows.lanes.get(row.laneKey);
  if (lane !== undefined && blocks(lane, row)) {
    reviveHead(model, lane);
    return lane.kind === "lane" ? "in_place" : "at_end";
  }
  const { event, round } = row.delivery;
  // Through the stage: the sequencer alone gives out sequences.
  rows.stage.push({
    event: { ...event, rowId: rows.nextRow++ },
    target: row.lane.endpointId,
    round: rules.redrivenRound(round),
  });
  return "at_end";
}

export function skip(model: Model, laneId: bigint, head: bigint): Skipped {
  const lane = model.rows.lanes.get(`lane ${laneId}`);
  if (lane === undefined || lane.deliveries.length === 0) return "unknown";
  if (!model.rules.isMeant(lane, head)) return "unknown";
  if (lane.lease !== undefined) {
    lane.skipIntended = true;
    return "intended";
  }
  // A dead head has its record already, and can still be redriven at the end.
  if (lane.state === "flowing") cancelHead(model, lane, "skipped");
  else passHead(lane);
  rest(lane, model.clock.monotonic());
  return "skipped";
}

export function blockedLanes(model: Model, page: Page): Paged<BlockedLane> {
  const blocked = [...model.rows.lanes.values()].flatMap((lane) => blockedOf(model, lane) ?? []);
  const ordered = blocked.toSorted((a, b) => b.blockedMs - a.blockedMs || Number(a.id - b.id));
  return pageOf(ordered, page);
}

export function deadLetters({ rows }: Model, page: Page): Paged<DeadLetter> {
  const newestFirst = [...rows.dead.values()].toSorted((a, b) => b.number - a.number);
  const { items, next } = pageOf(newestFirst, page);
  const letters = items.map((row) => {
    const { id, lane, delivery, because, diedAtMs, attempts } = row;
    const { tenant, id: eventId, type } = delivery.event;
    const last = (rows.attempts.get(id) ?? []).at(-1);
    const standing = rows.lanes.get(row.laneKey);
    return {
      id,
      tenant,
      endpointId: lane.endpointId,
      key: lane.key,
      sequence: lane.kind === "lane" ? delivery.sequence : undefined,
      eventId,
      type,
      round: delivery.round,
      because,
      diedAt: new Date(diedAtMs),
      attempts,
      lastStatus: last?.status,
      lastError: last?.error,
      blocks: lane.kind === "lane" && standing !== undefined && blocks(standing, row),
    };
  });
  return { items: letters, next };
}

function blocks(lane: LaneRow, { delivery }: DeadRow): boolean {
  return lane.state !== "flowing" && lane.head === delivery.sequence;
}

function blockedOf({ rows, clock }: Model, lane: LaneRow): BlockedLane | undefined {
  const endpoint = rows.endpoints.get(lane.endpointId);
  const stopped = rows.stoppedAt.get(lane.endpointId);
  const since = Math.min(lane.blockedAt ?? Infinity, stopped ?? Infinity);
  const stands = lane.kind === "lane" && lane.deliveries.length > 0 && since !== Infinity;
  if (!stands || endpoint === undefined) return undefined;
  const { id, endpointId, key = "", head, failures, readyAt } = lane;
  const now = clock.monotonic();
  const flowing = endpoint.state === "active" ? "retrying" : endpoint.state;
  const state = lane.state === "flowing" ? flowing : lane.state;
  const { tenant, id: headEventId } = headOf(lane).event;
  const depth = BigInt(lane.deliveries.length);
  const dueInMs = state === "retrying" ? Math.max(0, (readyAt ?? 0) - now) : undefined;
  const blockedMs = now - since;
  return { id, tenant, endpointId, key, state, depth, head, headEventId, blockedMs, failures, dueInMs };
}

/** By position: nothing is written between two pages of a look. */
function pageOf<T>(all: readonly T[], { limit, after }: Page): Paged<T> {
  const begin = Number(after ?? 0);
  const end = begin + limit;
  return { items: all.slice(begin, end), next: all.length > end ? String(end) : undefined };
}
