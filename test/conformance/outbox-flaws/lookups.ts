import type { MemoryStore } from "posthorn/memory";
import type { DeliverySummary, LaneSummary } from "../../../library/src/operator/lookup-store.js";
import type { Flaw } from "./flaw.js";

/** Flaws of what is found again. */
export const lookupFlaws = {
  events_oldest_first: {
    wrap: (inner) => ({
      events: async (filter, page) => {
        const { items, next } = await inner.events(filter, page);
        return { items: items.toReversed(), next };
      },
    }),
  },
  unknown_cursor_of_dead_letters_begins_anew: {
    wrap: (inner) => ({
      deadLetters: ({ limit, after }) =>
        inner.deadLetters({ limit, after: /^\d{1,18}$/.test(after ?? "") ? after : undefined }),
    }),
  },
  unknown_cursor_of_lanes_begins_anew: {
    wrap: (inner) => ({
      lanes: (filter, { limit, after }) =>
        inner.lanes(filter, { limit, after: /^\d{1,18}$/.test(after ?? "") ? after : undefined }),
    }),
  },
  events_without_pages: {
    wrap: (inner) => ({
      events: async (filter, page) => ({ items: (await inner.events(filter, page)).items, next: undefined }),
    }),
  },
  event_filter_ignores_the_tenant: {
    wrap: (inner) => ({
      events: (filter, page) => inner.events({ ...filter, tenant: undefined }, page),
    }),
  },
  event_filter_ignores_the_type: {
    wrap: (inner) => ({
      events: (filter, page) => inner.events({ ...filter, type: undefined }, page),
    }),
  },
  event_without_its_size: {
    wrap: (inner) => ({
      events: async (filter, page) => {
        const { items, next } = await inner.events(filter, page);
        return { items: items.map((each) => Object.assign(each, { bodyBytes: 0 })), next };
      },
    }),
  },
  event_without_its_headers: {
    wrap: (inner) => ({
      event: async (tenant, id) => {
        const event = await inner.event(tenant, id);
        return event && { ...event, headers: {} };
      },
    }),
  },
  event_of_any_tenant: {
    wrap: (inner) => ({
      event: async (tenant, id) => (await inner.event(tenant, id)) ?? inner.event("default", id),
    }),
  },
  delivery_always_waiting: { wrap: (inner) => eachDelivery(inner, () => ({ state: "waiting" })) },
  delivery_without_its_place: { wrap: (inner) => eachDelivery(inner, () => ({ sequence: 1n, laneId: 1n })) },
  delivery_without_its_error: { wrap: (inner) => eachDelivery(inner, () => ({ lastError: undefined })) },
  delivery_always_due: {
    wrap: (inner) =>
      eachDelivery(inner, ({ state }) => (state === "waiting" || state === "retrying" ? { dueInMs: 0 } : {})),
  },
  ended_lease_under_way: {
    wrap: (inner) => {
      const claimed = new Set<string>();
      return {
        claim: async (request) => {
          const answer = await inner.claim(request);
          for (const { run } of answer.claims) claimed.add(run[0].event.id);
          return answer;
        },
        ...eachDelivery(inner, ({ eventId }) => (claimed.has(eventId) ? { state: "under_way" } : {})),
      };
    },
  },
  run_under_way_at_its_head_only: {
    wrap: (inner) => {
      const heads = new Set<string>();
      return {
        claim: async (request) => {
          const answer = await inner.claim(request);
          for (const { run } of answer.claims) heads.add(run[0].event.id);
          return answer;
        },
        ...eachDelivery(inner, ({ state, eventId }) =>
          state === "under_way" && !heads.has(eventId) ? { state: "waiting" } : {},
        ),
      };
    },
  },
  delivery_without_its_end: { wrap: (inner) => eachDelivery(inner, () => ({ because: undefined })) },
  cancelled_called_dead: {
    wrap: (inner) => eachDelivery(inner, ({ state }) => (state === "cancelled" ? { state: "dead" } : {})),
  },
  delivery_always_of_round_1: { wrap: (inner) => eachDelivery(inner, () => ({ round: 1 })) },
  deliveries_of_one_endpoint: {
    wrap: (inner) => ({
      deliveriesOf: async (tenant, ids) =>
        (await inner.deliveriesOf(tenant, ids)).filter(({ endpointId }) => endpointId === "ep_a"),
    }),
  },
  deliveries_in_the_order_asked: {
    wrap: (inner) => ({
      deliveriesOf: async (tenant, ids) =>
        (await Promise.all(ids.map((id) => inner.deliveriesOf(tenant, [id])))).flat(),
    }),
  },
  deliveries_before_their_places: {
    wrap: (inner) => ({
      deliveriesOf: async (tenant, ids) => {
        const found = await inner.deliveriesOf(tenant, ids);
        const event = await inner.event(tenant, ids[0] ?? "");
        return found.length > 0 || event === undefined ? found : [PHANTOM];
      },
    }),
  },
  delivery_of_any_id: {
    wrap: (inner) => ({ delivery: async (id) => (await inner.delivery(id)) ?? PHANTOM }),
  },
  old_place_forgotten: {
    wrap: (inner) => ({
      deliveriesOf: async (tenant, ids) => {
        const found = await inner.deliveriesOf(tenant, ids);
        const newest = new Map(found.map((each) => [`${each.eventId} ${each.endpointId}`, each]));
        return [...newest.values()];
      },
    }),
  },
  removed_endpoint_forgotten: {
    wrap: (inner) => ({
      deliveriesOf: async (tenant, ids) => {
        const found = await inner.deliveriesOf(tenant, ids);
        const there = await inner.readEndpoints(found.map(({ endpointId }) => endpointId));
        return found.filter(({ endpointId }) => there.some(({ id }) => id === endpointId));
      },
    }),
  },
  lanes_newest_first: {
    wrap: (inner) => ({
      lanes: async (filter, page) => {
        const { items, next } = await inner.lanes(filter, page);
        return { items: items.toReversed(), next };
      },
    }),
  },
  empty_lane_found: {
    wrap: (inner) => ({ lane: async (id) => (await inner.lane(id)) ?? LANE }),
  },
  lanes_of_every_endpoint: { wrap: (inner) => ({ lanes: (_, page) => inner.lanes({}, page) }) },
  lane_always_flowing: { wrap: (inner) => eachLane(inner, { state: "flowing" }) },
  lane_without_depth: { wrap: (inner) => eachLane(inner, { depth: 1n }) },
  lane_never_blocked: { wrap: (inner) => eachLane(inner, { blockedMs: undefined }) },
  census_counts_dead_heads: {
    wrap: (inner) => ({
      census: async () => {
        const census = await inner.census();
        return { ...census, waiting: census.waiting + census.dead };
      },
    }),
  },
  census_without_age: {
    wrap: (inner) => ({ census: async () => ({ ...(await inner.census()), oldestDueMs: 0 }) }),
  },
  census_without_stage: {
    wrap: (inner) => ({ census: async () => ({ ...(await inner.census()), staged: 0 }) }),
  },
} satisfies Readonly<Record<string, Flaw>>;

const PHANTOM: DeliverySummary = {
  id: "dlv_1_1",
  eventId: "e1",
  endpointId: "ep_a",
  tenant: "default",
  type: "order.paid",
  laneId: 1n,
  key: "k",
  sequence: 1n,
  round: 1,
  state: "waiting",
  because: undefined,
  attempts: 0,
  lastStatus: undefined,
  lastError: undefined,
  lastAttemptAt: undefined,
  dueInMs: 0,
};

const LANE: LaneSummary = {
  id: 1n,
  tenant: "default",
  endpointId: "ep_a",
  key: "a",
  state: "flowing",
  depth: 0n,
  head: 1n,
  failures: 0,
  blockedMs: undefined,
  dueInMs: undefined,
};

function eachDelivery(
  inner: MemoryStore,
  change: (delivery: DeliverySummary) => Partial<DeliverySummary>,
): Pick<MemoryStore, "delivery" | "deliveriesOf"> {
  const changed = (delivery: DeliverySummary): DeliverySummary => ({ ...delivery, ...change(delivery) });
  return {
    deliveriesOf: async (tenant, ids) => (await inner.deliveriesOf(tenant, ids)).map(changed),
    delivery: async (id) => {
      const found = await inner.delivery(id);
      return found && changed(found);
    },
  };
}

function eachLane(inner: MemoryStore, change: Partial<LaneSummary>): Pick<MemoryStore, "lane" | "lanes"> {
  return {
    lanes: async (filter, page) => {
      const { items, next } = await inner.lanes(filter, page);
      return { items: items.map((each) => Object.assign(each, change)), next };
    },
    lane: async (id) => {
      const found = await inner.lane(id);
      return found && { ...found, ...change };
    },
  };
}
