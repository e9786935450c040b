import { LANE_RULE } from "../../../library/src/lanes/lane-rule.js";
import { LaneTable } from "../../../library/src/stores/memory/lanes/lane-table.js";
import type { Flaw } from "./flaw.js";

/** Flaws of what a person wants tried now, and says after a restore. */
export const retryingFlaws = {
  retry_of_every_endpoint: {
    wrap: (inner) => ({
      retry: async (target) => {
        if (!("endpointId" in target)) return inner.retry(target);
        const { items } = await inner.lanes({}, { limit: 100 });
        const others = new Set(items.map(({ endpointId }) => endpointId)).add(target.endpointId);
        const counts = await Promise.all([...others].map((endpointId) => inner.retry({ endpointId })));
        return counts.reduce((sum, each) => sum + each, 0);
      },
    }),
  },
  retry_begins_anew: {
    mutate: (swaps) =>
      swaps.swap(LANE_RULE, "retried", (right) => (lane) => {
        const change = right(lane);
        return change && { ...change, attempts: 0, failures: 0 };
      }),
  },
  retry_of_the_head_instead: {
    wrap: (inner) => ({
      retry: (target) => {
        const [, laneId] = /^dlv_(\d+)_/.exec("deliveryId" in target ? target.deliveryId : "") ?? [];
        return inner.retry(laneId === undefined ? target : { laneId: BigInt(laneId) });
      },
    }),
  },
  retry_of_all_without_a_lane: {
    wrap: (inner) => ({
      retry: async (target) => {
        const isLoose = "deliveryId" in target && /^dlv_\d+$/.test(target.deliveryId);
        const { endpointId } = (isLoose && (await inner.delivery(target.deliveryId))) || {};
        return inner.retry(endpointId === undefined ? target : { endpointId });
      },
    }),
  },
  retry_redrives_the_dead: {
    wrap: (inner) => ({
      retry: async (target) => {
        const lane = "laneId" in target ? await inner.lane(target.laneId) : undefined;
        if (lane?.state !== "halted") return inner.retry(target);
        await inner.redrive(`dlv_${lane.id}_${lane.head}`);
        return 1;
      },
    }),
  },
  retry_of_anything: {
    wrap: (inner) => ({ retry: async (target) => Math.max(1, await inner.retry(target)) }),
  },
  generations_raised_by_one: {
    mutate: (swaps) =>
      swaps.swap(
        LaneTable.prototype,
        "raiseAll",
        (right) =>
          function (this: LaneTable) {
            return right.call(this, 0n);
          },
      ),
  },
} satisfies Readonly<Record<string, Flaw>>;
