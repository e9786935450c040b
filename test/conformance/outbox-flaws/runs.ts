import type { AttemptRecord } from "../../../library/src/lanes/attempt-record.js";
import { Claims } from "../../../library/src/stores/memory/lanes/claim.js";
import { EndpointTable } from "../../../library/src/stores/memory/outbox/endpoints.js";
import { History } from "../../../library/src/stores/memory/operator/history.js";
import { Lane } from "../../../library/src/stores/memory/lanes/lane.js";
import type { Flaw, Swaps } from "./flaw.js";

/** Flaws of runs, and of claims whose process died. */
export const runFlaws = {
  run_without_limit: { mutate: (swaps) => swapRun(swaps, { maxEvents: 1000 }) },
  run_without_limit_of_bytes: { mutate: (swaps) => swapRun(swaps, { maxBytes: Number.MAX_SAFE_INTEGER }) },
  run_never: { mutate: (swaps) => swapRun(swaps, { maxEvents: 1 }) },
  run_of_a_tried_head: {
    mutate: (swaps) =>
      swaps.swap(
        Claims.prototype,
        "take",
        (right) =>
          function (this: Claims, lane, taker) {
            const { attempts } = lane;
            lane.attempts = 0;
            const claim = right.call(this, lane, taker, true);
            lane.attempts = attempts;
            return { ...claim, attempts };
          },
      ),
  },
  run_while_suspect: {
    mutate: (swaps) =>
      swaps.swap(
        Claims.prototype,
        "take",
        (right) =>
          function (this: Claims, lane, taker) {
            lane.suspectUntil = 0n;
            return right.call(this, lane, taker, true);
          },
      ),
  },
  run_never_after_a_lapse: {
    mutate: (swaps) =>
      swaps.swap(
        Claims.prototype,
        "take",
        (right) =>
          function (this: Claims, lane, taker, ...given) {
            if (lane.suspectUntil > 0n) lane.suspectUntil = lane.head + 10n;
            return right.call(this, lane, taker, ...given);
          },
      ),
  },
  run_lapse_charged: {
    mutate: (swaps) =>
      swaps.swap(
        Lane.prototype,
        "take",
        (right) =>
          function (this: Lane, lease) {
            right.call(this, { ...lease, deliveries: 1 });
          },
      ),
  },
  lapse_spends_a_failure: { mutate: (swaps) => onLapse(swaps, (lane) => (lane.failures += 1)) },
  lapse_counted_twice: { mutate: (swaps) => onLapse(swaps, (lane) => (lane.attempts += 1)) },
  lapse_not_written: { mutate: (swaps) => onLapse(swaps, () => undefined, false) },
  lapse_written_as_failed: {
    wrap: (inner) => ({
      attempts: async (id) =>
        (await inner.attempts(id)).map((each) => (each.outcome === "lapsed" ? timedOut(each) : each)),
    }),
  },
  never_alone: { mutate: (swaps) => onLapse(swaps, (lane) => (lane.lapses = Math.min(2, lane.lapses))) },
  alone_at_once: { mutate: (swaps) => onLapse(swaps, (lane) => (lane.lapses = 3)) },
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
      swaps.swap(
        EndpointTable.prototype,
        "get",
        (right) =>
          function (this: EndpointTable, id) {
            const endpoint = right.call(this, id);
            return endpoint && { ...endpoint, dead: undefined };
          },
      ),
  },
  failures_lead_to_alone: {
    mutate: (swaps) =>
      swaps.swap(
        Lane.prototype,
        "rest",
        (right) =>
          function (this: Lane, readyAt) {
            this.lapses = Math.max(this.lapses, this.failures);
            right.call(this, readyAt);
          },
      ),
  },
  counters_kept_by_the_lane: {
    mutate: (swaps) =>
      swaps.swap(
        Lane.prototype,
        "passHead",
        (right) =>
          function (this: Lane) {
            const { attempts, failures, lapses } = this;
            right.call(this);
            Object.assign(this, { attempts, failures, lapses });
          },
      ),
  },
} satisfies Readonly<Record<string, Flaw>>;

function timedOut(attempt: AttemptRecord): AttemptRecord {
  return { ...attempt, outcome: "unknown", error: "timeout" };
}

function swapRun(swaps: Swaps, limits: Partial<Parameters<Lane["run"]>[0]>): void {
  swaps.swap(
    Lane.prototype,
    "run",
    (right) =>
      function (this: Lane, asked) {
        return right.call(this, asked.maxEvents === 1 ? asked : { ...asked, ...limits });
      },
  );
}

function onLapse(swaps: Swaps, change: (lane: Lane) => unknown, write = true): void {
  swaps.swap(
    History.prototype,
    "addAttempt",
    (right) =>
      function (this: History, lane, attempt) {
        if (write || attempt.outcome !== "lapsed") right.call(this, lane, attempt);
        if (attempt.outcome === "lapsed") change(lane);
      },
  );
}
