import { parseDeliveryId, parseLaneId } from "../../../lanes/delivery-id.js";
import { retried } from "../../../lanes/lane.js";
import type { Lane } from "../../../lanes/lane.js";
import type { RetryTarget } from "../../../operator/operator-store.js";
import { readRow } from "../lanes/lane-row.js";
import type { LaneRow } from "../lanes/lane-row.js";
import { changeLane } from "../lanes/lane-write.js";
import type { OutboxSession } from "../outbox/session.js";
import type { OutboxTurn } from "../outbox/turn.js";

/** A lane or a loose delivery that may wait for its time; `head` where only this one is meant. */
interface Waiting {
  readonly kind: Lane["kind"];
  readonly id: bigint;
  readonly head?: bigint;
}

// How many one turn takes, so that it leaves the event loop free after a few milliseconds.
const PER_TURN = 50;

/** Makes due what waits for the time of its next attempt. */
export async function retryWaiting(session: OutboxSession, target: RetryTarget): Promise<number> {
  const waiting = await session.look((turn) => waitingOf(turn, target));
  const parts: Promise<number>[] = [];
  for (let from = 0; from < waiting.length; from += PER_TURN) {
    const some = waiting.slice(from, from + PER_TURN);
    parts.push(session.write((turn) => some.filter((each) => retryOne(turn, each)).length));
  }
  return (await Promise.all(parts)).reduce((sum, count) => sum + count, 0);
}

function retryOne(turn: OutboxTurn, { kind, id, head }: Waiting): boolean {
  const row = readRow(turn.client, kind, id);
  if (row === undefined || !waitsForTime(row, turn.nowMs)) return false;
  const change = head === undefined || head === row.lane.head ? retried(row.lane) : undefined;
  if (change === undefined) return false;
  changeLane(turn, row, change);
  return true;
}

function waitsForTime({ readyAt }: LaneRow, nowMs: number): boolean {
  return readyAt !== undefined && readyAt > nowMs;
}

function waitingOf(turn: OutboxTurn, target: RetryTarget): readonly Waiting[] {
  if ("endpointId" in target) return waitingAt(turn, target.endpointId);
  if ("laneId" in target) {
    // SQLite would refuse the statement for a number that no row can have.
    const id = parseLaneId(String(target.laneId));
    return id === undefined ? [] : [{ kind: "lane", id }];
  }
  const place = parseDeliveryId(target.deliveryId);
  if (place === undefined) return [];
  return place.kind === "loose"
    ? [{ kind: "loose", id: place.id }]
    : [{ kind: "lane", id: place.lane, head: place.sequence }];
}

/** Longest waiting first, which is the order in which they are sent. */
function waitingAt({ client, nowMs }: OutboxTurn, endpointId: string): readonly Waiting[] {
  const rows = (["lane", "loose"] as const).flatMap((kind) => {
    const found = client.allWide(
      `select id, ready_at from ${kind === "lane" ? "posthorn_lane" : "posthorn_loose_delivery"}
       where consumer = (select id from posthorn_consumer where public_id = ? and removed_at is null)
         and ready_at > ? and leased_by is null and attempts > 0
       order by ready_at`,
      endpointId,
      nowMs,
    ) as { id: bigint; ready_at: bigint }[];
    return found.map(({ id, ready_at: readyAt }) => ({ kind, id, readyAt }));
  });
  return rows.toSorted((left, right) => Number(left.readyAt - right.readyAt));
}
