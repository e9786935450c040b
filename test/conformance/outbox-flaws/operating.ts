import type { MemoryOutbox } from "posthorn/memory";
import type { DeadBecause } from "../../../library/src/lanes/dead.js";
import type { BlockedLane, DeadLetter } from "../../../library/src/operator/operator-store.js";
import { History } from "../../../library/src/stores/memory/operator/history.js";
import { Lane } from "../../../library/src/stores/memory/lanes/lane.js";
import { Lanes } from "../../../library/src/stores/memory/lanes/lanes.js";
import type { Flaw, Swaps } from "./flaw.js";

/** Flaws of the dead, and of what a person sees and does. */
export const operatingFlaws = {
  halt_lets_the_lane_go_on: { wrap: (inner) => withPolicy(inner, "halt", "skip") },
  park_lets_the_lane_go_on: { wrap: (inner) => withPolicy(inner, "park", "skip") },
  park_called_halt: { wrap: (inner) => withPolicy(inner, "park", "halt") },
  skip_halts_the_lane: { wrap: (inner) => withPolicy(inner, "skip", "halt") },
  dead_without_record: { mutate: (swaps) => swaps.swap(History.prototype, "addDead", () => () => undefined) },
  death_counts_no_failure: { mutate: (swaps) => onDeath(swaps, (lane) => (lane.failures -= 1)) },
  death_without_an_attempt_counts: {
    mutate: (swaps) => onDeath(swaps, (lane, because) => (lane.failures += because === "unsendable" ? 1 : 0)),
  },
  dead_lane_armed_by_the_next_event: {
    mutate: (swaps) =>
      swaps.swap(
        Lane.prototype,
        "append",
        (right) =>
          function (this: Lane, event, round, now) {
            right.call(this, event, round, now);
            if (this.lease === undefined) this.readyAt = now;
          },
      ),
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
        inner.deadLetters(after === undefined ? { limit } : { limit, after: String(Number(after) + 1) }),
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
  redrive_keeps_the_round: {
    mutate: (swaps) =>
      swaps.swap(
        Lane.prototype,
        "reviveHead",
        () =>
          function (this: Lane, now) {
            [this.state, this.attempts, this.failures, this.blockedAt] = ["flowing", 0, 0, undefined];
            this.rest(now);
          },
      ),
  },
  redrive_keeps_the_budget: {
    mutate: (swaps) =>
      swaps.swap(
        Lane.prototype,
        "reviveHead",
        (right) =>
          function (this: Lane, now) {
            const { attempts, failures } = this;
            right.call(this, now);
            Object.assign(this, { attempts, failures });
          },
      ),
  },
  redrive_at_the_end_keeps_the_round: {
    mutate: (swaps) =>
      swaps.swap(
        Lanes.prototype,
        "append",
        (right) =>
          function (this: Lanes, event, place, { now }) {
            right.call(this, event, place, { round: 1, now });
          },
      ),
  },
  redrive_twice: { mutate: (swaps) => swaps.swap(History.prototype, "removeDead", () => () => undefined) },
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
  blocked_never: { wrap: () => ({ blockedLanes: () => Promise.resolve({ items: [], next: undefined }) }) },
  blocked_while_due: {
    mutate: (swaps) =>
      swaps.swap(
        Lane.prototype,
        "append",
        (right) =>
          function (this: Lane, event, round, now) {
            right.call(this, event, round, now);
            this.blockedAt ??= now;
          },
      ),
  },
  blocked_after_the_gap: {
    mutate: (swaps) =>
      swaps.swap(
        Lane.prototype,
        "passHead",
        (right) =>
          function (this: Lane) {
            const { blockedAt } = this;
            right.call(this);
            this.blockedAt = blockedAt;
          },
      ),
  },
  blocked_since_the_last_failure: {
    mutate: (swaps) =>
      swaps.swap(
        Lane.prototype,
        "take",
        (right) =>
          function (this: Lane, lease) {
            this.blockedAt = undefined;
            right.call(this, lease);
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

function onDeath(swaps: Swaps, change: (lane: Lane, because: DeadBecause) => void): void {
  swaps.swap(
    History.prototype,
    "addDead",
    (right) =>
      function (this: History, lane, because, at) {
        right.call(this, lane, because, at);
        change(lane, because);
      },
  );
}

type Policy = "halt" | "skip" | "park";

function withPolicy(inner: MemoryOutbox, from: Policy, to: Policy): Pick<MemoryOutbox, "settle"> {
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

function eachLetter(
  inner: MemoryOutbox,
  change: () => Partial<DeadLetter>,
): Pick<MemoryOutbox, "deadLetters"> {
  return {
    deadLetters: async (page) => {
      const { items, next } = await inner.deadLetters(page);
      return { items: items.map((each) => Object.assign(each, change())), next };
    },
  };
}

function eachBlocked(
  inner: MemoryOutbox,
  change: () => Partial<BlockedLane>,
): Pick<MemoryOutbox, "blockedLanes"> {
  return {
    blockedLanes: async (page) => {
      const { items, next } = await inner.blockedLanes(page);
      return { items: items.map((each) => Object.assign(each, change())), next };
    },
  };
}
