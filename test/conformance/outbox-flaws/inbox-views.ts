import type { MemoryStore } from "posthorn/memory";
import type { ConsumerStanding, InboxFilter, InboxRecord } from "posthorn/operator";
import type { Flaw } from "./flaw.js";

/** Flaws of what an operator sees of an inbox. */
export const inboxViewFlaws = {
  inbox_oldest_first: {
    wrap: (inner) => ({ inboxRows: (filter, page) => inner.inboxRows({ ...filter, order: "oldest" }, page) }),
  },
  inbox_rows_of_one_run_by_their_ids: {
    wrap: (inner) => ({
      inboxRows: async (filter, page) => {
        const { items, next } = await inner.inboxRows(filter, page);
        const way = filter.order === "oldest" ? 1 : -1;
        const byId = (a: InboxRecord, b: InboxRecord): number =>
          way * (a.receivedAt.getTime() - b.receivedAt.getTime() || (a.id < b.id ? -1 : 1));
        return { items: items.toSorted(byId), next };
      },
    }),
  },
  inbox_of_any_tenant: { wrap: (inner) => without(inner, "tenant") },
  inbox_of_any_consumer: { wrap: (inner) => without(inner, "consumer") },
  inbox_of_any_outcome: { wrap: (inner) => without(inner, "outcome") },
  inbox_of_any_time: { wrap: (inner) => without(inner, "until") },
  inbox_prefix_of_any_source: {
    wrap: (inner) => ({
      inboxByPrefix: async ({ prefix }, page) => {
        const { items, next } = await inner.inboxRows({ order: "oldest" }, page);
        return { items: items.filter(({ id }) => id.startsWith(prefix)), next };
      },
    }),
  },
  inbox_row_of_one_consumer: {
    wrap: (inner) => ({
      inboxRowsOf: async (...event) => (await inner.inboxRowsOf(...event)).slice(0, 1),
    }),
  },
  inbox_forgets_the_size_of_the_stored_event: { wrap: (inner) => eachRow(inner, { bodyBytes: 0 }) },
  inbox_forgets_the_stored_event: { wrap: (inner) => eachRow(inner, { storedAs: undefined }) },
  inbox_forgets_results: { wrap: (inner) => eachRow(inner, { result: undefined }) },
  consumers_without_dead: { wrap: (inner) => eachConsumer(inner, () => ({ dead: 0 })) },
  consumers_never_seen: { wrap: (inner) => eachConsumer(inner, () => ({ seenAt: undefined })) },
  consumers_without_what_waits: { wrap: (inner) => eachConsumer(inner, () => ({ waiting: 0 })) },
  handlers_dead_of_no_tenant: {
    wrap: (inner) => ({
      deadLetters: (page, filter = {}) =>
        filter.tenant === undefined
          ? inner.deadLetters(page, filter)
          : Promise.resolve({ items: [], next: undefined }),
    }),
  },
  redrive_into_a_lane_of_nobody: {
    wrap: (inner) => ({
      lanes: async (filter, page) => {
        const { items, next } = await inner.lanes(filter, page);
        const again = items
          .filter(({ depth }) => depth > 1n)
          .map((lane) => Object.assign({}, lane, { id: lane.id + 1000n }));
        return { items: [...items, ...again], next };
      },
    }),
  },
  skipped_at_a_handler_is_lost: {
    wrap: (inner) => ({
      redrive: async (id) =>
        (await inner.delivery(id))?.state === "cancelled" ? "unknown" : inner.redrive(id),
    }),
  },
  skipped_at_a_handler_in_any_round: {
    wrap: (inner) => ({
      redriveAll: async (letters) => {
        const known = await Promise.all(letters.map(({ id }) => inner.delivery(id)));
        return inner.redriveAll(
          letters.map(({ id, round }, n) => ({
            id,
            round: known[n]?.state === "cancelled" ? known[n].round : round,
          })),
        );
      },
    }),
  },
  cancelled_dead_head_at_a_handler_is_lost: {
    wrap: (inner) => ({
      redriveAll: async (letters) => {
        const ends = await Promise.all(letters.map(({ id }) => inner.ends(id)));
        const isLost = ends.map((each) => each.some(({ resolvedHow }) => resolvedHow === "cancelled"));
        const others = letters.filter((_, n) => !isLost[n]);
        const answers = (await inner.redriveAll(others)).values();
        return isLost.map((lost) => (lost ? "unknown" : (answers.next().value ?? "unknown")));
      },
    }),
  },
  redriven_and_applied_looks_dead: {
    wrap: (inner) => ({
      deliveriesOf: async (tenant, ids) =>
        (await inner.deliveriesOf(tenant, ids)).map((each) =>
          each.state === "delivered" && each.round > 1
            ? Object.assign({}, each, { state: "dead", round: each.round - 1 })
            : each,
        ),
    }),
  },
  loose_at_handlers_not_found: {
    wrap: (inner) => ({
      deliveriesOf: async (tenant, ids) =>
        (await inner.deliveriesOf(tenant, ids)).filter(({ laneId }) => laneId !== undefined),
    }),
  },
} satisfies Readonly<Record<string, Flaw>>;

function without(inner: MemoryStore, field: keyof InboxFilter): Partial<MemoryStore> {
  return { inboxRows: (filter, page) => inner.inboxRows({ ...filter, [field]: undefined }, page) };
}

function eachRow(inner: MemoryStore, change: Partial<InboxRecord>): Partial<MemoryStore> {
  return {
    inboxRowsOf: async (...event) =>
      (await inner.inboxRowsOf(...event)).map((row) => Object.assign({}, row, change)),
  };
}

function eachConsumer(
  inner: MemoryStore,
  change: (consumer: ConsumerStanding) => Partial<ConsumerStanding>,
): Partial<MemoryStore> {
  return {
    consumers: async () =>
      (await inner.consumers()).map((consumer) => Object.assign({}, consumer, change(consumer))),
  };
}
