import type { DeadLetter } from "../../../library/src/operator/operator-store.js";
import { LANE_RULE } from "../../../library/src/lanes/lane-rule.js";
import type { Lane } from "../../../library/src/lanes/lane.js";
import { History } from "../../../library/src/stores/memory/lanes/history.js";
import { eachPassing, leaveDead } from "./flaw.js";
import type { Flaw, Swaps } from "./flaw.js";

/** Flaws of what a person passes over. */
export const skippingFlaws = {
  skip_forgets_the_dead: {
    mutate: (swaps) =>
      swaps.swap(
        History.prototype,
        "resolveDead",
        (right) =>
          function (this: History, id, at, how) {
            right.call(this, id, at, how === "skipped" ? "cancelled" : how);
          },
      ),
  },
  skip_leaves_the_dead_letter: { mutate: (swaps) => leaveDead(swaps, "skipped") },
  skip_of_the_dead_refused: {
    wrap: (inner) => ({
      skip: async (laneId, head) => {
        const { items } = await inner.deadLetters({ limit: 100 });
        const dead = items.some(({ id, blocks }) => blocks && id.startsWith(`dlv_${laneId}_`));
        return dead ? "unknown" : inner.skip(laneId, head);
      },
    }),
  },
  skip_as_dead: {
    wrap: (inner) => {
      const skipped: DeadLetter[] = [];
      return {
        skip: async (laneId, head) => {
          const before = await inner.blockedLanes({ limit: 1 });
          const answer = await inner.skip(laneId, head);
          if (answer !== "unknown" && before.items.length === 0) skipped.push(LETTER);
          return answer;
        },
        deadLetters: async (page) => {
          const { items, next } = await inner.deadLetters(page);
          return { items: [...items, ...skipped], next };
        },
      };
    },
  },
  skip_leaves_the_lane_waiting: {
    mutate: (swaps) =>
      swaps.swap(LANE_RULE, "skipped", (right) => (lane, how) => {
        const change = right(lane, how);
        const waits = typeof change !== "string" && change.readyAfterMs !== undefined;
        return waits ? { ...change, readyAfterMs: 1e15 } : change;
      }),
  },
  skip_of_two: {
    wrap: (inner) => ({
      skip: async (laneId, head) => {
        const answer = await inner.skip(laneId, head);
        if (answer === "skipped") await inner.skip(laneId, head + 1n);
        return answer;
      },
    }),
  },
  skip_breaks_the_lease: {
    mutate: (swaps) =>
      swaps.swap(LANE_RULE, "skipped", (right) => (lane, how) => right({ ...lane, lease: undefined }, how)),
  },
  skip_intent_forgotten: {
    mutate: (swaps) => {
      swaps.swap(LANE_RULE, "claimed", (right) => (lane, how) => right(notIntended(lane), how));
      swaps.swap(
        LANE_RULE,
        "settled",
        (right) =>
          (lane, ...given) =>
            right(notIntended(lane), ...given),
      );
      swaps.swap(LANE_RULE, "released", (right) => (lane) => right(notIntended(lane)));
    },
  },
  skip_intent_outlives_its_head: {
    mutate: (swaps) => eachPassing(swaps, (change, { skipIntended }) => ({ ...change, skipIntended })),
  },
  skip_of_nothing: {
    wrap: (inner) => ({
      skip: async (laneId, head) => {
        const answer = await inner.skip(laneId, head);
        return answer === "unknown" ? "skipped" : answer;
      },
    }),
  },
  skip_of_any_head: { mutate: (swaps) => skipAnyHead(swaps, () => true) },
  skip_intends_any_head: { mutate: (swaps) => skipAnyHead(swaps, ({ lease }) => lease !== undefined) },
  skip_compares_too_early: {
    wrap: (inner) => ({
      skip: async (laneId, head) => {
        if ((await inner.lane(laneId))?.head !== head) return "unknown";
        const answer = await inner.skip(laneId, head);
        // What another has made of the lane meanwhile counts as what was seen.
        const lane = answer === "unknown" ? await inner.lane(laneId) : undefined;
        return lane === undefined ? answer : inner.skip(laneId, lane.head);
      },
    }),
  },
  skip_released_takes_the_next: {
    wrap: (inner) => {
      const intended = new Set<bigint>();
      return {
        skip: async (laneId, head) => {
          const answer = await inner.skip(laneId, head);
          if (answer === "intended") intended.add(laneId);
          else if (intended.delete(laneId)) await inner.skip(laneId, head + 1n);
          return answer;
        },
      };
    },
  },
} satisfies Readonly<Record<string, Flaw>>;

function notIntended(lane: Lane): Lane {
  return { ...lane, skipIntended: false };
}

const LETTER: DeadLetter = {
  id: "dlv_1_1",
  number: 1n,
  laneId: 1n,
  tenant: "default",
  endpointId: "ep_a",
  key: "k",
  sequence: 1n,
  eventId: "skipped",
  type: "order.paid",
  round: 1,
  because: "refused",
  diedAt: new Date(0),
  attempts: 0,
  lastStatus: undefined,
  lastError: undefined,
  blocks: false,
};

/** Does not compare the head that is named with the one that is there, for lanes of which this holds. */
function skipAnyHead(swaps: Swaps, holds: (lane: Lane) => boolean): void {
  swaps.swap(
    LANE_RULE,
    "skipped",
    (right) => (lane, how) => right(lane, holds(lane) ? { ...how, head: lane.head } : how),
  );
}
