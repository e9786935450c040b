import type {
  DeliveryState,
  DeliverySummary,
  EventFilter,
  EventSummary,
  LaneSummary,
  OutboxCensus,
  StoredEvent as EventWithBody,
} from "../../../operator/lookup-store.js";
import type { Page, Paged } from "../../../operator/operator-store.js";
import { eventSummary, eventWithBody } from "../outbox/events.js";
import { idOf } from "./history.js";
import type { Lane } from "../lanes/lane.js";
import type { GivenPlace } from "../lanes/lanes.js";
import { pageOf } from "./operator.js";
import type { OutboxParts } from "../outbox/parts.js";

/** How a person finds what was published. */
export class Lookups {
  readonly #parts: OutboxParts;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  events(filter: EventFilter, { limit, after }: Page): Paged<EventSummary> {
    const all = this.#parts.events.matching(filter);
    const isCursor = after !== undefined && /^\d+$/.test(after);
    const rest = isCursor ? all.filter(({ rowId }) => rowId < BigInt(after)) : all;
    const page = pageOf(rest, limit, ({ rowId }) => String(rowId));
    return { ...page, items: page.items.map(eventSummary) };
  }

  event(tenant: string, id: string): EventWithBody | undefined {
    const event = this.#parts.events.find(tenant, id).at(-1);
    return event && eventWithBody(event);
  }

  deliveriesOf(tenant: string, eventIds: readonly string[]): readonly DeliverySummary[] {
    const { events, lanes } = this.#parts;
    const found = [...new Set(eventIds)].flatMap((id) => events.find(tenant, id));
    const inOrder = found.toSorted((one, other) => (one.rowId < other.rowId ? -1 : 1));
    return inOrder.flatMap((event) => lanes.placesOf(event)).map((place) => this.#summaryOf(place));
  }

  delivery(id: string): DeliverySummary | undefined {
    const place = this.#parts.lanes.placeOf(id);
    return place && this.#summaryOf(place);
  }

  lanes(
    { endpointId }: { readonly endpointId?: string | undefined },
    { limit, after }: Page,
  ): Paged<LaneSummary> {
    const waiting = this.#parts.lanes
      .waiting()
      .filter((lane) => lane.kind === "lane" && (endpointId ?? lane.endpointId) === lane.endpointId)
      .toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const from = after !== undefined && /^\d+$/.test(after) ? BigInt(after) : 0n;
    const page = pageOf(
      waiting.filter(({ id }) => id > from),
      limit,
      ({ id }) => String(id),
    );
    return { ...page, items: page.items.map((lane) => this.#laneOf(lane)) };
  }

  lane(id: bigint): LaneSummary | undefined {
    const lane = this.#parts.lanes.find("lane", id);
    return lane === undefined || lane.isEmpty ? undefined : this.#laneOf(lane);
  }

  census(staged: number): OutboxCensus {
    const { clock, endpoints, history, lanes } = this.#parts;
    const waiting = lanes.waiting();
    const now = clock.monotonic();
    const due = waiting.filter(({ endpointId }) => endpoints.isActive(endpointId));
    // The dead head of a lane that has stopped is still in it, and waits for nothing.
    const counts = waiting.map(({ head, end, state }) => Number(end - head) - (state === "flowing" ? 0 : 1));
    return {
      staged,
      waiting: counts.reduce((sum, count) => sum + count, 0),
      oldestDueMs: due.reduce((oldest, { readyAt = now }) => Math.max(oldest, now - readyAt), 0),
      blockedLanes: waiting.filter(({ kind, blockedAt }) => kind === "lane" && blockedAt !== undefined)
        .length,
      dead: history.allDead().filter(({ lane }) => endpoints.get(lane.endpointId) !== undefined).length,
    };
  }

  #summaryOf(place: GivenPlace): DeliverySummary {
    const { lane, sequence, event } = place;
    const isLane = lane.kind === "lane";
    const id = idOf(lane, sequence);
    const attempts = this.#parts.history.attempts(id);
    const { state, round, because } = this.#standingOf(place, id);
    const ofRound = attempts.filter((each) => each.round === round);
    const last = ofRound.at(-1);
    return {
      id,
      eventId: event.id,
      endpointId: lane.endpointId,
      tenant: event.tenant,
      type: event.type,
      laneId: isLane ? lane.id : undefined,
      key: lane.key,
      sequence: isLane ? sequence : undefined,
      round,
      state,
      because,
      attempts: ofRound.length,
      lastStatus: last?.status,
      lastError: last?.error,
      lastAttemptAt: last && new Date(last.startedAt),
      dueInMs: this.#dueInMs(place, state),
    };
  }

  #standingOf({ lane, sequence }: GivenPlace, id: string): Standing {
    const { clock, history, lanes } = this.#parts;
    const last = history.attempts(id).at(-1);
    const ending = history.ending(id);
    const delivery = lanes.isThere(lane) ? lane.at(sequence) : undefined;
    if (delivery === undefined) {
      if (last?.outcome === "acknowledged")
        return { state: "delivered", round: last.round, because: undefined };
      return ending ?? { state: "dead", round: 1, because: undefined };
    }
    const { round } = delivery;
    if (lane.state !== "flowing" && sequence === lane.head) {
      return { state: "dead", round, because: ending?.because };
    }
    // A lease that has ended holds nothing: whoever claims next takes it.
    const { endsAt = 0, deliveries = 0 } = lane.lease ?? {};
    const isLeased = endsAt > clock.monotonic() && sequence < lane.head + BigInt(deliveries);
    const state = isLeased ? "under_way" : last?.round === round ? "retrying" : "waiting";
    return { state, round, because: undefined };
  }

  #dueInMs({ lane, sequence }: GivenPlace, state: DeliveryState): number | undefined {
    const { clock, endpoints } = this.#parts;
    const waits = (state === "waiting" || state === "retrying") && sequence === lane.head;
    if (!waits || lane.readyAt === undefined || !endpoints.isActive(lane.endpointId)) return undefined;
    return Math.max(0, lane.readyAt - clock.monotonic());
  }

  #laneOf(lane: Lane): LaneSummary {
    const { clock, endpoints } = this.#parts;
    const { id, endpointId, key = "", head, end, failures, blockedAt, readyAt, lease } = lane;
    const now = clock.monotonic();
    const since = [blockedAt, endpoints.stoppedAt(endpointId)].filter((each) => each !== undefined);
    const state = laneState(lane, endpoints.get(endpointId)?.state ?? "active");
    const isMoving = state === "flowing" || state === "retrying";
    return {
      id,
      tenant: lane.headDelivery.event.tenant,
      endpointId,
      key,
      state,
      depth: end - head,
      head,
      failures,
      blockedMs: since.length === 0 ? undefined : now - Math.min(...since),
      dueInMs: isMoving ? Math.max(0, lease === undefined ? (readyAt ?? now) - now : 0) : undefined,
    };
  }
}

interface Standing {
  readonly state: DeliveryState;
  readonly round: number;
  readonly because: string | undefined;
}

function laneState(lane: Lane, endpoint: "active" | "paused" | "disabled"): LaneSummary["state"] {
  if (lane.state !== "flowing") return lane.state;
  if (endpoint !== "active") return endpoint;
  return lane.blockedAt === undefined ? "flowing" : "retrying";
}
