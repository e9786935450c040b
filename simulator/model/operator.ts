import { deliveryIdOf } from "../../library/src/lanes/delivery-id.js";
import type {
  BlockedLane,
  DeadLetter,
  Page,
  Paged,
  Redriven,
  RetryTarget,
  Skipped,
} from "../../library/src/operator/operator-store.js";
import { numberOfCursor } from "../../library/src/operator/cursor.js";
import { headOf, laneOf, write } from "./lanes.js";
import type { Model } from "./model.js";
import type { DeadRow, LaneRow } from "./rows.js";

export function redrive(model: Model, deliveryId: string): Redriven {
  const { rows, rules } = model;
  const dead = rows.dead.get(deliveryId);
  if (dead === undefined || !rows.endpoints.has(dead.lane.endpointId)) return "unknown";
  if (rules.forgetsDeadAtRedrive) rows.dead.delete(deliveryId);
  const { event, sequence, round } = dead.delivery;
  const row = rows.lanes.get(dead.laneKey);
  const change = row && rules.lane.redriven(laneOf(row), sequence);
  if (row !== undefined && change !== undefined) {
    write(model, row, change);
    return row.kind === "lane" ? "in_place" : "at_end";
  }
  // Through the stage: the sequencer alone gives out sequences.
  rows.stage.push({
    event: { ...event, rowId: rows.nextRow++ },
    target: dead.lane.endpointId,
    round: rules.redrivenRound(round),
  });
  return "at_end";
}

export function skip(model: Model, laneId: bigint, head: bigint): Skipped {
  const row = model.rows.lanes.get(`lane ${laneId}`);
  if (row === undefined) return "unknown";
  const leaseHasEnded = (row.lease?.endsAt ?? 0) <= model.clock.monotonic();
  const change = model.rules.lane.skipped(laneOf(row), { head, leaseHasEnded });
  if (change === "unknown") return change;
  if (change === "intended") {
    row.skipIntended = true;
    return change;
  }
  const dead = model.rows.dead.get(idAt(row));
  // Anew, because a copy of the rows that stands for a disk shares what is in them.
  if (row.state !== "flowing" && dead !== undefined) model.rows.dead.set(dead.id, { ...dead, skipped: true });
  write(model, row, change);
  return "skipped";
}

export function retry(model: Model, target: RetryTarget): number {
  const { rows, rules, clock } = model;
  let count = 0;
  for (const row of rows.lanes.values()) {
    const change = rules.lane.retried(laneOf(row));
    if (!isMeant(row, target) || (row.readyAt ?? 0) <= clock.monotonic() || change === undefined) continue;
    write(model, row, change);
    count += 1;
  }
  return count;
}

function isMeant(row: LaneRow, target: RetryTarget): boolean {
  if ("endpointId" in target) return row.endpointId === target.endpointId;
  if ("laneId" in target) return row.kind === "lane" && row.id === target.laneId;
  return target.deliveryId === idAt(row);
}

/** The id of its head. */
function idAt({ kind, id, head: sequence }: LaneRow): string {
  return deliveryIdOf(kind === "lane" ? { kind, lane: id, sequence } : { kind, id });
}

export function raiseGenerations({ rows, clock }: Model): number {
  const least = BigInt(Math.floor(clock.now()));
  rows.generation = rows.generation + 1n > least ? rows.generation + 1n : least;
  const lanes = [...rows.lanes.values()].filter(({ kind }) => kind === "lane");
  for (const lane of lanes) lane.generation = rows.generation;
  return lanes.length;
}

export function blockedLanes(model: Model, page: Page): Paged<BlockedLane> {
  const blocked = [...model.rows.lanes.values()].flatMap((lane) => blockedOf(model, lane) ?? []);
  const ordered = blocked.toSorted((a, b) => b.blockedMs - a.blockedMs || Number(a.id - b.id));
  return pageOf(ordered, page);
}

export function deadLetters({ rows }: Model, page: Page): Paged<DeadLetter> {
  const listed = [...rows.dead.values()].filter(({ skipped }) => !skipped);
  const newestFirst = listed.toSorted((a, b) => b.number - a.number);
  const { items, next } = pageOf(newestFirst, page);
  const letters = items.map((row) => {
    const { id, lane, delivery, because, diedAtMs, attempts, last } = row;
    const { tenant, id: eventId, type } = delivery.event;
    const standing = rows.lanes.get(row.laneKey);
    return {
      id,
      number: BigInt(row.number),
      laneId: lane.kind === "lane" ? standing?.id : undefined,
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
  const since = lane.blockedAt ?? rows.stoppedAt.get(lane.endpointId);
  const stands = lane.kind === "lane" && lane.deliveries.length > 0;
  if (!stands || since === undefined || endpoint === undefined) return undefined;
  const { id, endpointId, key = "", head, failures, readyAt = 0, lease } = lane;
  const now = clock.monotonic();
  const flowing = endpoint.state === "active" ? "retrying" : endpoint.state;
  const state = lane.state === "flowing" ? flowing : lane.state;
  const { tenant, id: headEventId } = headOf(lane).event;
  const depth = BigInt(lane.deliveries.length);
  const waitMs = lease === undefined ? Math.max(0, readyAt - now) : 0;
  const dueInMs = state === "retrying" ? waitMs : undefined;
  const blockedMs = now - since;
  return { id, tenant, endpointId, key, state, depth, head, headEventId, blockedMs, failures, dueInMs };
}

/** By position: nothing is written between two pages of a look. */
function pageOf<T>(all: readonly T[], { limit, after }: Page): Paged<T> {
  const begin = Number(numberOfCursor(after) ?? 0n);
  const end = begin + limit;
  return { items: all.slice(begin, end), next: all.length > end ? String(end) : undefined };
}
