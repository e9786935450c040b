import { EndpointTable } from "../../../library/src/stores/memory/outbox/endpoint-table.js";
import { History } from "../../../library/src/stores/memory/lanes/history.js";
import { LaneTable } from "../../../library/src/stores/memory/lanes/lane-table.js";
import type { Flaw } from "./flaw.js";

/** Flaws of removals of handlers. */
export const removingFlaws = {
  handler_removed_from_its_worker: {
    wrap: (inner) => ({
      removeHandler: (id, removal) => inner.removeHandler(id, { ...removal, unseenForMs: 0 }),
    }),
  },
  removed_handler_keeps_its_lanes: {
    mutate: (swaps) => swaps.swap(LaneTable.prototype, "remove", () => () => []),
  },
  removed_handler_cancels_nothing: {
    mutate: (swaps) => swaps.swap(History.prototype, "addCancelled", () => () => undefined),
  },
  removed_handler_keeps_its_dead_letters: {
    mutate: (swaps) => swaps.swap(History.prototype, "resolveAllDead", () => () => undefined),
  },
  removed_handler_forgets_what_it_applied: {
    wrap: (inner) => ({
      removeHandler: async (id, removal) => {
        const { items } = await inner.inboxRows({}, { limit: 100 });
        for (const { tenant, source, id: event } of items) await inner.forgetEvent(tenant, source, event);
        return inner.removeHandler(id, removal);
      },
    }),
  },
  removed_handler_leaves_what_was_passed_over: {
    mutate: (swaps) => swaps.swap(History.prototype, "closeCancelled", () => () => undefined),
  },
  removed_handler_is_waited_for: {
    wrap: (inner) => ({
      forgetEvent: async (tenant, source, id) => {
        const rows = await inner.inboxRowsOf(tenant, source, id);
        if (rows.some(({ outcome }) => outcome === "pending")) return { kind: "pending" };
        return inner.forgetEvent(tenant, source, id);
      },
    }),
  },
  removed_handler_stays_registered: {
    mutate: (swaps) => swaps.swap(EndpointTable.prototype, "removeHandler", () => () => undefined),
  },
} satisfies Readonly<Record<string, Flaw>>;
