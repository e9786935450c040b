import type { MemoryStore } from "posthorn/memory";
import type { DeadFilter } from "../../../library/src/operator/dead-filter.js";
import { leaveDead } from "./flaw.js";
import type { Flaw } from "./flaw.js";

/** Flaws of what is done with many dead letters. */
export const deadBulkFlaws = {
  dead_filter_ignores_the_status: { wrap: (inner) => filtered(inner, { status: undefined }) },
  dead_filter_ignores_the_key: { wrap: (inner) => filtered(inner, { key: undefined }) },
  dead_filter_ignores_the_order: { wrap: (inner) => filtered(inner, { order: undefined }) },
  dead_filter_ignores_the_time: { wrap: (inner) => filtered(inner, { since: undefined }) },
  dead_filter_ignores_the_number: { wrap: (inner) => filtered(inner, { upTo: undefined }) },
  dead_groups_count_what_is_redriven: {
    wrap: (inner) => {
      let redriven = 0;
      return {
        redrive: (id) => {
          redriven += 1;
          return inner.redrive(id);
        },
        deadGroups: async (filter) =>
          (await inner.deadGroups(filter)).map((group) =>
            Object.assign({}, group, { count: group.count + redriven }),
          ),
      };
    },
  },
  dead_summary_counts_the_head_as_waiting: {
    wrap: (inner) => ({
      deadSummary: async (filter) => {
        const summary = await inner.deadSummary(filter);
        return { ...summary, waitingBehind: summary.waitingBehind + summary.blocking };
      },
    }),
  },
  redrive_of_many_in_any_round: {
    wrap: (inner) => ({ redriveAll: (letters) => Promise.all(letters.map(({ id }) => inner.redrive(id))) }),
  },
  redrive_of_many_backwards: {
    wrap: (inner) => ({
      redriveAll: async (letters) => (await inner.redriveAll(letters.toReversed())).toReversed(),
    }),
  },
  cancel_of_everything: { wrap: (inner) => ({ cancel: (laneId) => inner.cancel(laneId, 2n ** 62n) }) },
  cancel_leaves_the_dead_letter: { mutate: (swaps) => leaveDead(swaps, "cancelled") },
  cancel_forgets_the_head_under_way: {
    wrap: (inner) => ({
      cancel: async (laneId, through) => {
        const { dueInMs } = (await inner.lane(laneId)) ?? {};
        return dueInMs === 0 && (await isLeased(inner, laneId))
          ? { kind: "intended" }
          : inner.cancel(laneId, through);
      },
    }),
  },
} satisfies Readonly<Record<string, Flaw>>;

/** Takes a part of each filter away. */
function filtered(inner: MemoryStore, change: Partial<DeadFilter>): Partial<MemoryStore> {
  return { deadLetters: (page, filter) => inner.deadLetters(page, { ...filter, ...change }) };
}

async function isLeased(inner: MemoryStore, laneId: bigint): Promise<boolean> {
  const { head = 0n } = (await inner.lane(laneId)) ?? {};
  return (await inner.delivery(`dlv_${laneId}_${head}`))?.state === "under_way";
}
