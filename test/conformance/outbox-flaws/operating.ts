import type { MemoryStore } from "posthorn/memory";
import { LANE_RULE } from "../../../library/src/lanes/lane-rule.js";
import type { DeadDelivery } from "../../../library/src/lanes/dead.js";
import type { Lane } from "../../../library/src/lanes/lane.js";
import type { BlockedLane, DeadLetter } from "../../../library/src/operator/operator-store.js";
import { History } from "../../../library/src/stores/memory/lanes/history.js";
import { LaneTable } from "../../../library/src/stores/memory/lanes/lane-table.js";
import { eachChange, eachPassing } from "./flaw.js";
import type { Flaw, Swaps } from "./flaw.js";

function oneEarlier(cursor: string): string {
  const [diedMs, number] = cursor.split("_");
  return `${diedMs}_${Number(number) + 1}`;
}

/** Flaws of the dead, and of what a person sees and does. */
export const operatingFlaws = {
  halt_lets_the_lane_go_on: { wrap: (inner) => withPolicy(inner, "halt", "skip") },
  park_lets_the_lane_go_on: { wrap: (inner) => withPolicy(inner, "park", "skip") },
  park_called_halt: { wrap: (inner) => withPolicy(inner, "park", "halt") },
  skip_halts_the_lane: { wrap: (inner) => withPolicy(inner, "skip", "halt") },
  dead_without_record: { mutate: (swaps) => swaps.swap(History.prototype, "addDead", () => () => undefined) },
  death_counts_no_failure: { mutate: (swaps) => onDeath(swaps, () => -1) },
  death_without_an_attempt_counts: {
    mutate: (swaps) => onDeath(swaps, ({ because }) => (because === "unsendable" ? 1 : 0)),
  },
  dead_lane_armed_by_the_next_event: {
    mutate: (swaps) => swaps.swap(LANE_RULE, "arms", () => (lane) => (lane as Lane).lease === undefined),
  },
  dead_blocks_always: { wrap: (inner) => eachLetter(inner, () => ({ blocks: true })) },
  dead_blocks_never: { wrap: (inner) => eachLetter(inner, () => ({ blocks: false })) },
  dead_always_exhausted: { wrap: (inner) => eachLetter(inner, () => ({ because: "exhausted" })) },
  dead_without_status: { wrap: (inner) => eachLetter(inner, () => ({ lastStatus: undefined })) },
  dead_without_attempts: { wrap: (inner) => eachLetter(inner, () => ({ attempts: 0 })) },
  dead_always_of_round_1: { wrap: (inner) => eachLetter(inner, () => ({ round: 1 })) },
  dead_oldest_first: {
    mutate: (swaps) =>
      swaps.swap(
        History.prototype,
        "allDead",
        (right) =>
          function (this: History) {
            return right.call(this).toReversed();
          },
      ),
  },
  dead_pages_overlap: {
    wrap: (inner) => ({
      deadLetters: ({ limit, after }) =>
        inner.deadLetters(after === undefined ? { limit } : { limit, after: oneEarlier(after) }),
    }),
  },
  dead_without_pages: {
    wrap: (inner) => ({
      deadLetters: async (page) => ({ items: (await inner.deadLetters(page)).items, next: undefined }),
    }),
  },
  redrive_always_at_the_end: {
    wrap: (inner) => ({
      redrive: async (id) => {
        const { items } = await inner.deadLetters({ limit: 100 });
        const letter = items.find((each) => each.id === id && each.blocks);
        const { items: lanes } = await inner.blockedLanes({ limit: 100 });
        const lane = lanes.find(({ key }) => key === letter?.key);
        if (letter !== undefined && lane !== undefined) await inner.skip(lane.id, lane.head);
        return inner.redrive(id);
      },
    }),
  },
  redrive_keeps_the_round: { mutate: (swaps) => onRedrive(swaps, ({ round }) => ({ round })) },
  redrive_keeps_the_budget: {
    mutate: (swaps) => onRedrive(swaps, ({ attempts, failures }) => ({ attempts, failures })),
  },
  redrive_at_the_end_keeps_the_round: {
    mutate: (swaps) =>
      swaps.swap(
        LaneTable.prototype,
        "append",
        (right) =>
          function (this: LaneTable, lane, { event }, readyAt) {
            right.call(this, lane, { event, round: 1 }, readyAt);
          },
      ),
  },
  redrive_twice: { mutate: (swaps) => swaps.swap(History.prototype, "resolveDead", () => () => undefined) },
  redrive_of_anything: {
    wrap: (inner) => ({
      redrive: async (id) => {
        const redriven = await inner.redrive(id);
        return redriven === "unknown" ? "at_end" : redriven;
      },
    }),
  },
  redrive_without_a_lane_lost: {
    wrap: (inner) => ({
      redrive: (id) => (id.split("_").length === 2 ? Promise.resolve("at_end") : inner.redrive(id)),
    }),
  },
  redrive_leaves_the_letter: {
    wrap: (inner) => {
      const kept: DeadLetter[] = [];
      return {
        redrive: async (id) => {
          const { items } = await inner.deadLetters({ limit: 100 });
          kept.push(...items.filter((each) => each.id === id));
          return inner.redrive(id);
        },
        deadLetters: async (page) => {
          const { items, next } = await inner.deadLetters(page);
          return { items: [...items, ...kept], next };
        },
      };
    },
  },
  set_aside_of_anything: { wrap: () => ({ redriveEvent: () => Promise.resolve("staged") }) },
  blocked_never: { wrap: () => ({ blockedLanes: () => Promise.resolve({ items: [], next: undefined }) }) },
  blocked_while_due: {
    mutate: (swaps) =>
      swaps.swap(
        LaneTable.prototype,
        "append",
        (right) =>
          function (this: LaneTable, lane, delivery, readyAt) {
            right.call(this, lane, delivery, readyAt);
            lane.blockedAt ??= lane.readyAt;
          },
      ),
  },
  blocked_after_the_gap: {
    mutate: (swaps) => eachPassing(swaps, (change) => ({ ...change, blocked: "now" })),
  },
  blocked_since_the_last_failure: {
    mutate: (swaps) =>
      swaps.swap(
        LaneTable.prototype,
        "lease",
        (right) =>
          function (this: LaneTable, lane, epoch, lease) {
            lane.blockedAt = undefined;
            right.call(this, lane, epoch, lease);
          },
      ),
  },
  blocked_shortest_first: {
    wrap: (inner) => ({
      blockedLanes: async (page) => {
        const { items, next } = await inner.blockedLanes(page);
        return { items: items.toReversed(), next };
      },
    }),
  },
  blocked_always_retrying: { wrap: (inner) => eachBlocked(inner, () => ({ state: "retrying" })) },
  blocked_without_depth: { wrap: (inner) => eachBlocked(inner, () => ({ depth: 1n })) },
  blocked_always_due: { wrap: (inner) => eachBlocked(inner, () => ({ dueInMs: 0 })) },
} satisfies Readonly<Record<string, Flaw>>;

/** Counts other failures of a head that dies and stays. */
function onDeath(swaps: Swaps, more: (dead: DeadDelivery) => number): void {
  eachChange(swaps, (change, { head }) =>
    change.dead !== undefined && change.head === head
      ? { ...change, failures: change.failures + more(change.dead) }
      : change,
  );
}

function onRedrive(swaps: Swaps, kept: (lane: Lane) => Partial<Lane>): void {
  swaps.swap(LANE_RULE, "redriven", (right) => (lane, sequence) => {
    const change = right(lane, sequence);
    return change && { ...change, ...kept(lane), blocked: change.blocked };
  });
}

type Policy = "halt" | "skip" | "park";

function withPolicy(inner: MemoryStore, from: Policy, to: Policy): Pick<MemoryStore, "settle"> {
  return {
    settle: (request) => {
      const settlements = request.settlements.map((each) =>
        each.rest?.state === "dead" && each.rest.policy === from
          ? { ...each, rest: { ...each.rest, policy: to } }
          : each,
      );
      return inner.settle({ ...request, settlements });
    },
  };
}

function eachLetter(inner: MemoryStore, change: () => Partial<DeadLetter>): Pick<MemoryStore, "deadLetters"> {
  return {
    deadLetters: async (page) => {
      const { items, next } = await inner.deadLetters(page);
      return { items: items.map((each) => Object.assign(each, change())), next };
    },
  };
}

function eachBlocked(
  inner: MemoryStore,
  change: () => Partial<BlockedLane>,
): Pick<MemoryStore, "blockedLanes"> {
  return {
    blockedLanes: async (page) => {
      const { items, next } = await inner.blockedLanes(page);
      return { items: items.map((each) => Object.assign(each, change())), next };
    },
  };
}
