import type { DeliveryState, DeliverySummary } from "../../../../operator/lookup-store.js";
import { idOf } from "../../lanes/lane-row.js";
import type { GivenPlace } from "../../lanes/place-table.js";
import type { MemoryParts } from "../../parts.js";

/** Every delivery of these events, in the order in which they were given their places. */
export function deliveriesOf(
  parts: MemoryParts,
  tenant: string,
  eventIds: readonly string[],
): readonly DeliverySummary[] {
  const { events, places } = parts;
  const found = [...new Set(eventIds)].flatMap((id) => events.find(tenant, id));
  const inOrder = found.toSorted((one, other) => (one.rowId < other.rowId ? -1 : 1));
  return inOrder.flatMap((event) => places.ofEvent(event)).map((place) => summaryOf(parts, place));
}

export function delivery(parts: MemoryParts, id: string): DeliverySummary | undefined {
  const place = parts.places.ofDelivery(id);
  return place && summaryOf(parts, place);
}

function summaryOf(parts: MemoryParts, place: GivenPlace): DeliverySummary {
  const { lane, sequence, event } = place;
  const isLane = lane.kind === "lane";
  const id = idOf(lane, sequence);
  const { state, round, because } = standingOf(parts, place, id);
  const attempts = parts.history.attempts(id).filter((each) => each.round === round);
  const last = attempts.at(-1);
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
    attempts: attempts.length,
    lastStatus: last?.status,
    lastError: last?.error,
    lastAttemptAt: last && new Date(last.startedAt),
    dueInMs: dueInMs(parts, place, state),
  };
}

interface Standing {
  readonly state: DeliveryState;
  readonly round: number;
  readonly because: string | undefined;
}

function standingOf(
  { clock, history, lanes }: MemoryParts,
  { lane, sequence }: GivenPlace,
  id: string,
): Standing {
  const last = history.attempts(id).at(-1);
  const ending = history.ending(id);
  const waiting = lanes.has(lane) ? lane.deliveries.get(sequence) : undefined;
  if (waiting === undefined) {
    if (last?.outcome === "acknowledged")
      return { state: "delivered", round: last.round, because: undefined };
    // A handler that succeeds in its first round leaves a row of the inbox and no attempt.
    return ending ?? { state: "delivered", round: 1, because: undefined };
  }
  const { round } = waiting;
  if (lane.state !== "flowing" && sequence === lane.head)
    return { state: "dead", round, because: ending?.because };
  // A lease that has ended holds nothing: the next claim takes the lane.
  const { endsAt = 0, run = 0 } = lane.lease ?? {};
  const isLeased = endsAt > clock.monotonic() && sequence < lane.head + BigInt(run);
  const state = isLeased ? "under_way" : last?.round === round ? "retrying" : "waiting";
  return { state, round, because: undefined };
}

function dueInMs(
  { clock, endpoints }: MemoryParts,
  { lane, sequence }: GivenPlace,
  state: DeliveryState,
): number | undefined {
  const waits = (state === "waiting" || state === "retrying") && sequence === lane.head;
  if (!waits || lane.readyAt === undefined || !endpoints.isActive(lane.endpointId)) return undefined;
  return Math.max(0, lane.readyAt - clock.monotonic());
}
