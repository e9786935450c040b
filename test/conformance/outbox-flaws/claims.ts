import { memoryOutbox } from "posthorn/memory";
import type { MemoryOutbox } from "posthorn/memory";
import type { Claim, ClaimAnswer, ClaimedDelivery } from "../../../library/src/delivery/delivery-store.js";
import { Claims } from "../../../library/src/stores/memory/outbox-claims.js";
import { EndpointTable } from "../../../library/src/stores/memory/outbox-endpoints.js";
import { History } from "../../../library/src/stores/memory/outbox-history.js";
import { Lane } from "../../../library/src/stores/memory/outbox-lane.js";
import { Publications } from "../../../library/src/stores/memory/outbox-publications.js";
import type { Flaw, Swaps } from "./flaw.js";

/** Flaws of claims, leases, runs and lapses. */
export const claimFlaws = {
  lane_claimed_twice: {
    mutate: (swaps) =>
      swaps.swap(
        Lane.prototype,
        "take",
        (right) =>
          function (this: Lane, lease) {
            const { readyAt } = this;
            right.call(this, lease);
            this.readyAt = readyAt;
          },
      ),
  },
  head_and_next_at_once: {
    wrap: (inner) => ({
      claim: async (request) => {
        const answer = await inner.claim({ ...request, run: { ...request.run, maxEvents: 2 } });
        return { ...answer, claims: answer.claims.flatMap(splitRun) };
      },
    }),
  },
  epoch_reused: {
    mutate: (swaps) =>
      swaps.swap(
        Lane.prototype,
        "take",
        (right) =>
          function (this: Lane, lease) {
            const { epoch } = this;
            right.call(this, lease);
            this.epoch = epoch;
          },
      ),
  },
  lease_never_ends: {
    mutate: (swaps) =>
      swaps.swap(
        Lane.prototype,
        "take",
        (right) =>
          function (this: Lane, lease) {
            right.call(this, lease);
            this.readyAt = undefined;
          },
      ),
  },
  lease_a_moment_long: { mutate: (swaps) => swapLease(swaps, 1) },
  lease_a_moment_short: { mutate: (swaps) => swapLease(swaps, -1) },
  limit_ignored: {
    mutate: (swaps) =>
      swaps.swap(
        Claims.prototype,
        "claim",
        (right) =>
          function (this: Claims, request) {
            return right.call(this, { ...request, limit: 1000 });
          },
      ),
  },
  cap_ignored: {
    mutate: (swaps) =>
      swaps.swap(
        EndpointTable.prototype,
        "sorted",
        (right) =>
          function (this: EndpointTable) {
            return right.call(this).map((each) => ({ ...each, maxInFlight: 10_000 }));
          },
      ),
  },
  in_flight_not_subtracted: {
    mutate: (swaps) =>
      swaps.swap(
        Claims.prototype,
        "claim",
        (right) =>
          function (this: Claims, request) {
            return right.call(this, { ...request, inFlight: new Map() });
          },
      ),
  },
  cap_over_all_endpoints: {
    wrap: (inner) => ({
      claim: async (request) => {
        const full = [...request.inFlight.values()].some((count) => count > 2);
        return full ? { claims: [], lapsed: false } : inner.claim(request);
      },
    }),
  },
  first_endpoint_first: { wrap: (inner) => chosen(inner, (claims) => claims.toSorted(byEndpoint)) },
  newest_first: { wrap: (inner) => chosen(inner, (claims) => claims.toReversed()) },
  failing_lane_stops_the_endpoint: {
    wrap: (inner) => ({
      claim: async (request) => {
        const { items } = await inner.blockedLanes({ limit: 1 });
        const stuck = items.some(({ dueInMs }) => dueInMs === undefined || dueInMs > 0);
        return stuck ? { claims: [], lapsed: false } : inner.claim(request);
      },
    }),
  },
  after_forgotten: { wrap: (inner) => eachClaim(inner, (claim) => ({ ...claim, after: undefined })) },
  after_counts_what_was_skipped: {
    mutate: (swaps) =>
      swaps.swap(
        Lane.prototype,
        "passHead",
        (right) =>
          function (this: Lane) {
            this.after = this.head;
            right.call(this);
          },
      ),
  },
  version_not_told: {
    wrap: (inner) => eachClaim(inner, (claim) => ({ ...claim, endpoint: { ...claim.endpoint, version: 1 } })),
  },
  type_not_told: {
    wrap: (inner) => eachDelivery(inner, (each) => ({ ...each, event: { ...each.event, type: "event" } })),
  },
  body_not_copied: {
    wrap: (inner) => {
      const bodies = new Map<string, Uint8Array>();
      return eachDelivery(inner, (each) => {
        const body = bodies.get(each.event.id) ?? each.event.body;
        bodies.set(each.event.id, body);
        return { ...each, event: { ...each.event, body } };
      });
    },
  },
  expiry_not_told: { wrap: (inner) => eachDelivery(inner, (each) => ({ ...each, expiresInMs: undefined })) },
  expired_never_claimed: {
    wrap: (inner) => ({
      claim: async (request) => {
        const { claims, lapsed } = await inner.claim(request);
        return { claims: claims.filter(({ run }) => (run[0].expiresInMs ?? 1) > 0), lapsed };
      },
    }),
  },
  sequences_as_numbers: {
    wrap: (inner) => eachDelivery(inner, (each) => ({ ...each, sequence: BigInt(Number(each.sequence)) })),
  },
  loose_sequence_told: {
    wrap: (inner) => eachDelivery(inner, (each) => ({ ...each, sequence: each.sequence || 1n })),
  },
  release_does_nothing: { wrap: () => ({ release: () => Promise.resolve(0) }) },
  release_of_what_is_held: { wrap: (inner) => ({ release: (worker) => inner.release(worker, []) }) },
  release_of_every_worker: {
    wrap: (inner) => ({
      release: async (worker, held) =>
        (await inner.release("worker_1", held)) +
        (worker === "worker_1" ? 0 : await inner.release(worker, held)),
    }),
  },
  release_keeps_the_lease: {
    mutate: (swaps) => {
      let releasing = false;
      swaps.swap(
        Lane.prototype,
        "rest",
        (right) =>
          function (this: Lane, readyAt) {
            if (!releasing) return right.call(this, readyAt);
            this.epoch -= 1n;
            this.readyAt = readyAt;
          },
      );
      swaps.swap(
        OutboxInMemory.prototype,
        "release",
        (right) =>
          function (this: MemoryOutbox, ...given) {
            releasing = true;
            const released = right.apply(this, given);
            releasing = false;
            return released;
          },
      );
    },
  },
  until_due_always_0: { wrap: () => ({ untilDue: () => Promise.resolve(0) }) },
  until_due_never: { wrap: () => ({ untilDue: () => Promise.resolve(undefined) }) },
  until_due_without_leases: {
    wrap: (inner) => ({ untilDue: async () => ((await inner.untilDue()) === 0 ? 0 : undefined) }),
  },
  until_due_without_later_events: {
    mutate: (swaps) => swaps.swap(Publications.prototype, "untilNextMs", () => () => undefined),
  },
  until_due_counts_what_is_stopped: {
    wrap: (inner) => ({
      untilDue: async () =>
        (await inner.untilDue()) ??
        ((await inner.blockedLanes({ limit: 1 })).items.length > 0 ? 0 : undefined),
    }),
  },
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
        (await inner.attempts(id)).map((each) =>
          each.outcome === "lapsed" ? { ...each, outcome: "unknown", error: "timeout" } : each,
        ),
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

const OutboxInMemory = { prototype: Object.getPrototypeOf(memoryOutbox()) as MemoryOutbox };

type ClaimMaker = Pick<MemoryOutbox, "claim" | "settle">;

/** Changes every claim that is given out; those that come back have their own fields again. */
function eachClaim(inner: MemoryOutbox, change: (claim: Claim) => Claim): ClaimMaker {
  return {
    claim: async (request) => {
      const { claims, lapsed } = await inner.claim(request);
      return { claims: claims.map(change), lapsed };
    },
    settle: async (request) => {
      const answers = await inner.settle(request);
      return answers.map((each) =>
        each.kind === "stale" ? each : { ...each, next: each.next && change(each.next) },
      );
    },
  };
}

function eachDelivery(
  inner: MemoryOutbox,
  change: (delivery: ClaimedDelivery) => ClaimedDelivery,
): ClaimMaker {
  return eachClaim(inner, (claim) => {
    const [head, ...others] = claim.run;
    return { ...claim, run: [change(head), ...others.map(change)] };
  });
}

/** The second of a run as a claim of its own, beside the first. */
function splitRun(claim: Claim): Claim[] {
  return claim.run.map((delivery) => ({ ...claim, run: [delivery] }));
}

/** Claims everything, keeps what it likes best, and gives the rest back. */
function chosen(
  inner: MemoryOutbox,
  order: (claims: readonly Claim[]) => readonly Claim[],
): Partial<MemoryOutbox> {
  return {
    claim: async (request): Promise<ClaimAnswer> => {
      const worker = `${request.worker} `;
      const { claims, lapsed } = await inner.claim({ ...request, worker, limit: request.alone ? 1 : 1000 });
      const kept = order(claims).slice(0, request.limit);
      await inner.release(worker, kept);
      return { claims: kept, lapsed };
    },
  };
}

function byEndpoint(one: Claim, other: Claim): number {
  return one.endpoint.id < other.endpoint.id ? -1 : 1;
}

function swapLease(swaps: Swaps, moreMs: number): void {
  swaps.swap(
    Lane.prototype,
    "take",
    (right) =>
      function (this: Lane, lease) {
        right.call(this, { ...lease, endsAt: lease.endsAt + moreMs });
      },
  );
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
