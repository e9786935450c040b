import type { MemoryStore } from "posthorn/memory";
import type { AttemptRecord } from "../../../library/src/lanes/attempt-record.js";
import { LANE_RULE } from "../../../library/src/lanes/lane-rule.js";
import type { Lane, LaneChange } from "../../../library/src/lanes/lane.js";
import type { RunLimits } from "../../../library/src/lanes/lane-store.js";
import { LaneTable } from "../../../library/src/stores/memory/lanes/lane-table.js";
import { eachChange, eachPassing } from "./flaw.js";
import type { Flaw, Swaps } from "./flaw.js";

/** Flaws of runs, and of claims whose process died. */
export const runFlaws = {
  run_without_limit: { wrap: (inner) => withRun(inner, { maxEvents: 1000 }) },
  run_without_limit_of_bytes: { wrap: (inner) => withRun(inner, { maxBytes: Number.MAX_SAFE_INTEGER }) },
  run_never: { wrap: (inner) => withRun(inner, { maxEvents: 1 }) },
  run_of_a_tried_head: { mutate: (swaps) => runWhere(swaps, ({ attempts }) => attempts > 0) },
  run_while_suspect: { mutate: (swaps) => runWhere(swaps, ({ attempts }) => attempts === 0) },
  run_never_after_a_lapse: {
    mutate: (swaps) =>
      eachChange(swaps, (change) =>
        change.suspectUntil !== undefined && change.leasable === "run"
          ? { ...change, leasable: "head" }
          : change,
      ),
  },
  run_lapse_charged: {
    mutate: (swaps) =>
      swaps.swap(
        LaneTable.prototype,
        "lease",
        (right) =>
          function (this: LaneTable, lane, epoch, lease) {
            right.call(this, lane, epoch, { ...lease, run: 1 });
          },
      ),
  },
  lapse_spends_a_failure: {
    mutate: (swaps) => onLapse(swaps, ({ failures }) => ({ failures: failures + 1 })),
  },
  lapse_counted_twice: {
    mutate: (swaps) => onLapse(swaps, ({ attempts }) => ({ attempts: attempts + 1 })),
  },
  lapse_not_written: { mutate: (swaps) => onLapse(swaps, () => ({ tried: [] })) },
  lapse_written_as_failed: {
    wrap: (inner) => ({
      attempts: async (id) =>
        (await inner.attempts(id)).map((each) => (each.outcome === "lapsed" ? timedOut(each) : each)),
    }),
  },
  never_alone: { mutate: (swaps) => withLapses(swaps, (lapses) => Math.min(1, lapses)) },
  alone_at_once: { mutate: (swaps) => withLapses(swaps, (lapses) => Math.max(2, lapses)) },
  alone_beside_others: {
    wrap: (inner) => ({
      claim: async (request) => {
        const alone = await inner.claim({ ...request, alone: true });
        const others = await inner.claim({ ...request, alone: false });
        return { claims: [...alone.claims, ...others.claims], lapsed: false };
      },
    }),
  },
  alone_in_pairs: {
    wrap: (inner) => ({
      claim: async (request) => {
        const { claims, lapsed } = await inner.claim(request);
        return {
          claims: request.alone ? [...claims, ...(await inner.claim(request)).claims] : claims,
          lapsed,
        };
      },
    }),
  },
  alone_takes_a_place: {
    wrap: (inner) => ({
      claim: async (request) => {
        const limit = (await inner.claim({ ...request, limit: 0 })).lapsed
          ? request.limit - 1
          : request.limit;
        return inner.claim({ ...request, limit });
      },
    }),
  },
  alone_not_told: {
    wrap: (inner) => ({ claim: async (request) => ({ ...(await inner.claim(request)), lapsed: false }) }),
  },
  alone_told_without_need: {
    wrap: (inner) => ({ claim: async (request) => ({ ...(await inner.claim(request)), lapsed: true }) }),
  },
  lapse_alone_ignores_the_policy: {
    mutate: (swaps) =>
      swaps.swap(LANE_RULE, "claimed", (right) => (lane, how) => right(lane, { ...how, dead: undefined })),
  },
  failures_lead_to_alone: {
    mutate: (swaps) =>
      eachChange(swaps, (change) => ({ ...change, lapses: Math.max(change.lapses, change.failures) })),
  },
  counters_kept_by_the_lane: {
    mutate: (swaps) =>
      eachPassing(swaps, (change, { attempts, failures, lapses }) => ({
        ...change,
        attempts,
        failures,
        lapses,
      })),
  },
} satisfies Readonly<Record<string, Flaw>>;

function timedOut(attempt: AttemptRecord): AttemptRecord {
  return { ...attempt, outcome: "unknown", error: "timeout" };
}

/** Other limits where a run is asked for. */
function withRun(inner: MemoryStore, limits: Partial<RunLimits>): Pick<MemoryStore, "claim" | "settle"> {
  const changed = (run: RunLimits): RunLimits => (run.maxEvents === 1 ? run : { ...run, ...limits });
  return {
    claim: (request) => inner.claim({ ...request, run: changed(request.run) }),
    settle: (request) => inner.settle({ ...request, run: changed(request.run) }),
  };
}

/** Lets a lane go in a run, of which the head alone may be leased, where this holds. */
function runWhere(swaps: Swaps, holds: (change: LaneChange) => boolean): void {
  eachChange(swaps, (change, { kind }) =>
    kind === "lane" && change.leasable === "head" && holds(change) ? { ...change, leasable: "run" } : change,
  );
}

const hasLapsed = ({ lease }: Lane): boolean => lease?.run === 1;

function onLapse(swaps: Swaps, alter: (change: LaneChange) => Partial<LaneChange>): void {
  eachChange(swaps, (change, lane) =>
    hasLapsed(lane) && change.tried[0]?.outcome === "lapsed" ? { ...change, ...alter(change) } : change,
  );
}

/** Counts other lapses than there were before the one that has just happened. */
function withLapses(swaps: Swaps, alter: (lapses: number) => number): void {
  swaps.swap(
    LANE_RULE,
    "claimed",
    (right) => (lane, how) => right(hasLapsed(lane) ? { ...lane, lapses: alter(lane.lapses) } : lane, how),
  );
}
