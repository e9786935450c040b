import { ModelStore } from "../../simulator/model/store.js";
import { RIGHT_RULES } from "../../simulator/model/rules.js";
import { LANE_RULE } from "../../library/src/lanes/lane-rule.js";
import type { LaneRule } from "../../library/src/lanes/lane-rule.js";
import { LAPSES_BEFORE_ALONE } from "../../library/src/lanes/lane.js";
import type { Lane, LaneChange } from "../../library/src/lanes/lane.js";
import type { Decisions } from "../../simulator/world/world.js";
import type { ModelRules } from "../../simulator/model/rules.js";
import type { SimulateOptions } from "../../simulator/simulate.js";
import type { StoredDecisions } from "../../simulator/stored/world.js";

/** A mistake of logic that somebody could make, and that the simulator must find. */
export interface PlantedBug {
  readonly name: string;
  /** The first seed that finds it, as `npx tsx scripts/simulate.ts --bugs` prints it. */
  readonly foundAt: number;
  readonly rules?: Partial<ModelRules>;
  readonly decisions?: Decisions;
}

const DAY_MS = 24 * 3600 * 1000;

/** A table in which one function of the lane rule, or some, are wrong. */
function lane(wrong: Partial<LaneRule>): Partial<ModelRules> {
  return { lane: { ...LANE_RULE, ...wrong } };
}

/** The lane rule, with every change altered that it makes of a lane. */
function altered(alter: (change: LaneChange, lane: Lane) => LaneChange): Partial<ModelRules> {
  const { claimed, settled, skipped, released } = LANE_RULE;
  return lane({
    claimed: (before, how) => alter(claimed(before, how), before),
    settled: (before, ...given) => alter(settled(before, ...given), before),
    released: (before) => alter(released(before), before),
    skipped: (before, how) => {
      const change = skipped(before, how);
      return typeof change === "string" ? change : alter(change, before);
    },
  });
}

/** The lane rule, told of another settlement than was made. */
function settledAs(
  other: (settlement: Parameters<LaneRule["settled"]>[1], lane: Lane) => Parameters<LaneRule["settled"]>[1],
): Partial<LaneRule> {
  return {
    settled: (before, settlement, how) => LANE_RULE.settled(before, other(settlement, before), how),
  };
}

const SKIP = { state: "dead", because: "exhausted", policy: "skip" } as const;

export const PLANTED_BUGS: readonly PlantedBug[] = [
  // Leases.
  {
    name: "no fence: an old claim may settle",
    foundAt: 23,
    rules: lane({ isCurrent: ({ lease }) => lease !== undefined }),
  },
  {
    name: "the epoch is used again after a lapse",
    foundAt: 0,
    rules: altered((change) =>
      change.leasable !== "nothing" && change.lapses > 0 ? { ...change, epoch: change.epoch - 1n } : change,
    ),
  },
  {
    name: "a lease ends before its time",
    foundAt: 0,
    rules: { leaseEnd: (now, leaseMs) => now + leaseMs / 20 },
  },
  { name: "release frees what is held", foundAt: 102, rules: { frees: () => true } },
  {
    name: "a paused endpoint is claimed",
    foundAt: 4,
    rules: { isActive: (endpoint) => endpoint?.state !== "disabled" },
  },
  {
    name: "a run is leased while one of it is suspect",
    foundAt: 16,
    rules: altered((change, { kind }) =>
      kind === "lane" && change.leasable === "head" && change.attempts === 0
        ? { ...change, leasable: "run" }
        : change,
    ),
  },
  {
    name: "what was tried before goes in a run",
    foundAt: 0,
    rules: altered((change, { kind, lapses }) =>
      kind === "lane" && change.leasable === "head" && change.lapses === lapses
        ? { ...change, leasable: "run" }
        : change,
    ),
  },
  {
    name: "what kills processes runs beside others",
    foundAt: 3,
    rules: lane({
      claimed: (before, how) => {
        const alone = LANE_RULE.claimed(before, { ...how, alone: true });
        return alone.leasable === "nothing" ? LANE_RULE.claimed(before, how) : alone;
      },
    }),
  },
  {
    name: "a lapse kills at once",
    foundAt: 23,
    rules: lane({
      claimed: (before, how) =>
        LANE_RULE.claimed(before.lease?.run === 1 ? { ...before, lapses: LAPSES_BEFORE_ALONE } : before, how),
    }),
  },
  // Counting.
  {
    name: "a lapse spends a failure",
    foundAt: 0,
    rules: altered((change, { lapses }) =>
      change.lapses > lapses ? { ...change, failures: change.failures + 1 } : change,
    ),
  },
  {
    name: "settled without its attempts",
    foundAt: 0,
    rules: lane({ settled: (...given) => ({ ...LANE_RULE.settled(...given), tried: [] }) }),
  },
  {
    name: "a retry does not wait",
    foundAt: 0,
    rules: lane(
      settledAs((settlement) =>
        settlement.rest?.state === "due"
          ? { ...settlement, rest: { ...settlement.rest, afterMs: 0 } }
          : settlement,
      ),
    ),
  },
  // Order.
  {
    name: "a retry passes the head",
    foundAt: 0,
    rules: lane(
      settledAs((settlement, { kind }) =>
        settlement.rest?.state === "due" && kind === "lane" ? { ...settlement, rest: SKIP } : settlement,
      ),
    ),
  },
  {
    name: "sequences against the order of commits",
    foundAt: 5,
    rules: { inOrder: (stage) => RIGHT_RULES.inOrder(stage).toReversed() },
  },
  {
    name: "sequences by a cursor",
    foundAt: 4,
    rules: { isSeen: ({ event }, sequencedTo) => event.rowId > sequencedTo },
  },
  {
    name: "sequences twice what one batch did not hold",
    foundAt: 2,
    rules: { takesOffStage: ({ more }) => !more },
  },
  {
    name: "a dead head does not stop its lane",
    foundAt: 11,
    rules: lane({
      claimed: (before, how) => LANE_RULE.claimed(before, { ...how, dead: "skip" }),
      ...settledAs((settlement) =>
        settlement.rest?.state === "dead"
          ? { ...settlement, rest: { ...settlement.rest, policy: "skip" } }
          : settlement,
      ),
    }),
  },
  // Loss.
  {
    name: "a wake-up is lost: a lane that was empty is not armed",
    foundAt: 0,
    // The model hands in the whole lane.
    rules: lane({ arms: (before) => LANE_RULE.arms(before) && (before as Lane).epoch === 0n }),
  },
  {
    name: "skipped without a record",
    foundAt: 8,
    rules: altered((change) => (change.state === "flowing" ? { ...change, dead: undefined } : change)),
  },
  {
    name: "cancelled without a record",
    foundAt: 8,
    rules: altered((change) => ({ ...change, cancelled: undefined })),
  },
  {
    name: "all of a run is acknowledged with its first",
    foundAt: 0,
    rules: lane(
      settledAs((settlement, { lease }) =>
        settlement.acknowledged > 0 ? { ...settlement, acknowledged: lease?.run ?? 0 } : settlement,
      ),
    ),
  },
  {
    name: "the head of a disabled endpoint is dropped",
    foundAt: 20,
    rules: altered((change, { end }) =>
      change.disabled !== undefined && change.head < end ? { ...change, head: change.head + 1n } : change,
    ),
  },
  { name: "what was to be delivered later is forgotten", foundAt: 4, rules: { placesLater: false } },
  {
    name: "an intended skip is forgotten",
    foundAt: 30,
    rules: lane({
      claimed: (before, how) => LANE_RULE.claimed({ ...before, skipIntended: false }, how),
      settled: (before, ...given) => LANE_RULE.settled({ ...before, skipIntended: false }, ...given),
      released: (before) => LANE_RULE.released({ ...before, skipIntended: false }),
    }),
  },
  {
    name: "a second click passes over the next",
    foundAt: 43,
    rules: lane({ skipped: (before, how) => LANE_RULE.skipped(before, { ...how, head: before.head }) }),
  },
  // Doubles.
  { name: "redriven twice, sent twice", foundAt: 23, rules: { forgetsDeadAtRedrive: false } },
  {
    name: "a redrive stays in its round",
    foundAt: 23,
    rules: {
      redrivenRound: (round) => round,
      ...lane({
        redriven: (before, sequence) => {
          const change = LANE_RULE.redriven(before, sequence);
          return change && { ...change, round: before.round };
        },
      }),
    },
  },
  { name: "the same id is published twice", foundAt: 0, rules: { remembersIds: false } },
  { name: "expired, and sent", foundAt: 8, rules: { expiresInMs: () => undefined } },
  { name: "delivered before its time", foundAt: 4, rules: { isLater: () => false } },
  // Transactions.
  { name: "published outside of the transaction", foundAt: 1, rules: { waitsForCommit: false } },
  { name: "deduplicated outside of the transaction", foundAt: 3, rules: { marksAt: "begin" } },
  { name: "applied without a lock", foundAt: 99, rules: { locks: false } },
  { name: "a failed event counts as known", foundAt: 3, rules: { isKnown: () => true } },
  {
    name: "the window is too short",
    foundAt: 91,
    rules: { keepUntil: (_line, nowMs) => nowMs + DAY_MS / 100_000 },
  },
  // Decisions outside of the store.
  {
    name: "what was held up past its lease is sent",
    foundAt: 23,
    decisions: { leftMs: () => 1 },
  },
  {
    name: "a lost answer counts as success",
    foundAt: 0,
    decisions: {
      outcomeOf: (outcome) => (outcome.kind === "unknown" ? { kind: "acknowledged", status: 200 } : outcome),
    },
  },
  {
    name: "a failed handler is answered with success",
    foundAt: 8,
    decisions: { replyOf: (reply) => (reply.status === 500 ? { ...reply, status: 200 } : reply) },
  },
  {
    name: "a transaction is acknowledged before it is durable",
    foundAt: 39,
    decisions: { answersBeforeSync: (call) => call === "commit" },
  },
  {
    name: "a publication is acknowledged before it is durable",
    foundAt: 236,
    decisions: { answersBeforeSync: (call) => call === "append" },
  },
  {
    name: "a lease is told before it is durable",
    foundAt: 48,
    decisions: { answersBeforeSync: (call) => call === "claim" },
  },
];

/** A mistake of the world around a store whose events are stored first; those of shipped code are in test/mutants. */
export interface WorkerBug {
  readonly name: string;
  /** The first seed that finds it. */
  readonly foundAt: number;
  readonly decisions: StoredDecisions;
}

export const WORKER_BUGS: readonly WorkerBug[] = [
  {
    name: "an event is acknowledged before it is durable",
    foundAt: 15,
    decisions: { answersBeforeSync: (call) => call === "ingest" },
  },
  {
    name: "what a handler writes is there before its transaction commits",
    foundAt: 1,
    decisions: { writesAtOnce: true },
  },
];

/** How to run the simulator with a bug in it. */
export function planted({ rules, decisions = {} }: PlantedBug): SimulateOptions {
  const wrong: ModelRules = { ...RIGHT_RULES, ...rules };
  return { openStore: (parts) => new ModelStore(parts, wrong), decisions };
}
