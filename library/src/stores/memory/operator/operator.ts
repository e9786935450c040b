import type { AttemptRecord } from "../../../lanes/attempt-record.js";
import type {
  BlockedLane,
  BlockedState,
  DeadLetter,
  Page,
  Paged,
  Redriven,
  Skipped,
} from "../../../operator/operator-store.js";
import { placeIn } from "../../../outbox/fan-out.js";
import type { DeadRow } from "./history.js";
import type { Lane } from "../lanes/lane.js";
import { cancelHead } from "../outbox/parts.js";
import type { OutboxParts } from "../outbox/parts.js";

/** What a person sees and does. */
export class Operator {
  readonly #parts: OutboxParts;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  blockedLanes({ limit, after }: Page): Paged<BlockedLane> {
    const blocked = this.#parts.lanes.waiting().flatMap((lane) => this.#blockedOf(lane) ?? []);
    const ordered = blocked.toSorted((a, b) => a.since - b.since || Number(a.lane.id - b.lane.id));
    const [since = 0, id = 0] = (after ?? "").split("_").map(Number);
    const rest = ordered.filter((each) => each.since > since || (each.since === since && each.lane.id > id));
    const page = pageOf(
      after === undefined ? ordered : rest,
      limit,
      (last) => `${last.since}_${last.lane.id}`,
    );
    return { ...page, items: page.items.map((each) => this.#laneAsSeen(each)) };
  }

  deadLetters({ limit, after }: Page): Paged<DeadLetter> {
    const all = this.#parts.history.allDead();
    const rest = after === undefined ? all : all.filter(({ number }) => number < Number(after));
    const page = pageOf(rest, limit, ({ number }) => String(number));
    return { ...page, items: page.items.map(letterOf) };
  }

  redrive(deliveryId: string): Redriven {
    const { clock, endpoints, history, lanes } = this.#parts;
    const row = history.dead(deliveryId);
    const endpoint = row && endpoints.get(row.lane.endpointId);
    if (row === undefined || endpoint === undefined) return "unknown";
    history.removeDead(deliveryId);
    const now = clock.monotonic();
    if (isInPlace(row)) {
      row.lane.reviveHead(now);
      return row.lane.kind === "lane" ? "in_place" : "at_end";
    }
    const { event, round } = row.delivery;
    lanes.append(event, placeIn(endpoint, event.key), { round: round + 1, now });
    return "at_end";
  }

  skip(laneId: bigint, head: bigint): Skipped {
    const { clock, lanes } = this.#parts;
    const lane = lanes.find("lane", laneId);
    // A second click is meant for the same one: without this it would pass over the next.
    if (lane === undefined || lane.isEmpty || lane.head !== head) return "unknown";
    if (lane.lease !== undefined) {
      lane.skipIntended = true;
      return "intended";
    }
    // A dead head has its record already, and can still be redriven at the end.
    if (lane.state === "flowing") cancelHead(this.#parts, lane, "skipped");
    else lane.passHead();
    lane.rest(clock.monotonic());
    return "skipped";
  }

  attempts(deliveryId: string): readonly AttemptRecord[] {
    return this.#parts.history.attempts(deliveryId);
  }

  #blockedOf(lane: Lane): Blocked | undefined {
    const { endpoints } = this.#parts;
    const endpoint = endpoints.get(lane.endpointId);
    const since = earliest(lane.blockedAt, endpoints.stoppedAt(lane.endpointId));
    if (lane.kind === "loose" || endpoint === undefined || since === undefined) return undefined;
    if (lane.state !== "flowing") return { lane, since, state: lane.state };
    return { lane, since, state: endpoint.state === "active" ? "retrying" : endpoint.state };
  }

  #laneAsSeen({ lane, since, state }: Blocked): BlockedLane {
    const { id, endpointId, key = "", head, end, failures, headDelivery, readyAt = 0 } = lane;
    const { tenant, id: headEventId } = headDelivery.event;
    const now = this.#parts.clock.monotonic();
    const dueInMs = state === "retrying" ? Math.max(0, readyAt - now) : undefined;
    const blockedMs = now - since;
    const depth = end - head;
    return { id, tenant, endpointId, key, state, depth, head, headEventId, blockedMs, failures, dueInMs };
  }
}

/** A lane that does not move, and since when, by the monotonic clock. */
interface Blocked {
  readonly lane: Lane;
  readonly since: number;
  readonly state: BlockedState;
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function isInPlace({ lane, delivery }: DeadRow): boolean {
  return lane.state !== "flowing" && lane.head === delivery.sequence;
}

function letterOf(row: DeadRow): DeadLetter {
  const { id, lane, delivery, because, diedAt, attempts, last } = row;
  const isLane = lane.kind === "lane";
  return {
    id,
    tenant: delivery.event.tenant,
    endpointId: lane.endpointId,
    key: lane.key,
    sequence: isLane ? delivery.sequence : undefined,
    eventId: delivery.event.id,
    type: delivery.event.type,
    round: delivery.round,
    because,
    diedAt: new Date(diedAt),
    attempts,
    lastStatus: last?.status,
    lastError: last?.error,
    blocks: isLane && isInPlace(row),
  };
}

/** The cursor says where the last item stood, not which it was: it may be gone when the next page is asked for. */
export function pageOf<T>(rest: readonly T[], limit: number, cursorOf: (last: T) => string): Paged<T> {
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return { items, next: last !== undefined && rest.length > limit ? cursorOf(last) : undefined };
}
