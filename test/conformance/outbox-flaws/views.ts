import type { MemoryStore } from "posthorn/memory";
import type { EventFilter } from "../../../library/src/operator/lookup-store.js";
import type { EndpointStanding, RepeatRecord } from "../../../library/src/operator/view-store.js";
import type { Flaw } from "./flaw.js";

/** Flaws of what pages show of many rows at once. */
export const viewFlaws = {
  standings_without_dead_heads: {
    wrap: (inner) => eachStanding(inner, ({ waiting, blocked }) => ({ waiting: waiting - blocked })),
  },
  standings_without_age: { wrap: (inner) => eachStanding(inner, () => ({ oldestMs: 0 })) },
  standings_call_retrying_halted: {
    wrap: (inner) =>
      eachStanding(inner, ({ haltedLanes, retryingLanes }) => ({ haltedLanes: haltedLanes + retryingLanes })),
  },
  queue_from_one_end: {
    wrap: (inner) => ({
      queue: (lane, part, limit) => inner.queue(lane, part === "last" ? "first" : part, limit),
    }),
  },
  queue_forgets_what_is_finished: {
    wrap: (inner) => ({
      queue: async (lane, part, limit) => (part === "finished" ? [] : inner.queue(lane, part, limit)),
    }),
  },
  last_end_only: { wrap: (inner) => ({ ends: async (id) => (await inner.ends(id)).slice(-1) }) },
  end_never_resolved: {
    wrap: (inner) => ({
      ends: async (id) =>
        (await inner.ends(id)).map((end) =>
          Object.assign(end, { resolvedAt: undefined, resolvedHow: undefined }),
        ),
    }),
  },
  repeats_counted_once: { wrap: (inner) => eachRepeat(inner, () => ({ receipts: 1 })) },
  repeats_without_bytes: { wrap: (inner) => eachRepeat(inner, () => ({ body: undefined })) },
  repeats_of_any_tenant: {
    wrap: (inner) => ({
      recordRepeats: (repeats) =>
        inner.recordRepeats(repeats.map((repeat) => Object.assign({}, repeat, { tenant: "default" }))),
    }),
  },
  repeats_kept_for_ever: {
    wrap: (inner) => ({
      recordRepeats: (repeats) =>
        inner.recordRepeats(repeats.map((repeat) => Object.assign({}, repeat, { windowS: undefined }))),
    }),
  },
  name_of_any_tenant: {
    wrap: (inner) => ({ namedEvents: (_, names) => inner.namedEvents("default", names) }),
  },
  ids_of_any_tenant: {
    wrap: (inner) => ({
      eventIds: async (tenant, prefix, limit) =>
        [
          ...(await inner.eventIds(tenant, prefix, limit)),
          ...(await inner.eventIds("acme", prefix, limit)),
        ].slice(0, limit),
    }),
  },
  tenants_by_beginning: {
    wrap: (inner) => ({
      tenantsOf: async (id) =>
        (await inner.eventIds("zeta", id, 1)).length > 0 ? ["zeta"] : inner.tenantsOf(id),
    }),
  },
  ids_in_the_order_of_writing: {
    wrap: (inner) => ({
      eventIds: async (tenant, prefix, limit) =>
        (await inner.eventIds(tenant, prefix, 100)).toReversed().slice(0, limit),
    }),
  },
  origin_forgotten: {
    wrap: (inner) => ({
      ingest: ({ event, ...rest }) => inner.ingest({ ...rest, event: { ...event, origin: undefined } }),
    }),
  },
  since_ignored: {
    wrap: (inner) => ({ events: (filter, page) => inner.events(withoutTime(filter, "since"), page) }),
  },
  until_ignored: {
    wrap: (inner) => ({ events: (filter, page) => inner.events(withoutTime(filter, "until"), page) }),
  },
} satisfies Readonly<Record<string, Flaw>>;

function withoutTime(filter: EventFilter, field: "since" | "until"): EventFilter {
  return { ...filter, [field]: undefined };
}

function eachStanding(
  inner: MemoryStore,
  change: (standing: EndpointStanding) => Partial<EndpointStanding>,
): Partial<MemoryStore> {
  return {
    standings: async () =>
      (await inner.standings()).map((standing) => Object.assign(standing, change(standing))),
  };
}

function eachRepeat(
  inner: MemoryStore,
  change: (repeat: RepeatRecord) => Partial<RepeatRecord>,
): Partial<MemoryStore> {
  return {
    repeats: async (tenant, id) =>
      (await inner.repeats(tenant, id)).map((repeat) => Object.assign(repeat, change(repeat))),
  };
}
