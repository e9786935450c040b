import type { MemoryStore } from "posthorn/memory";
import { LANE_RULE } from "../../../library/src/lanes/lane-rule.js";
import type {
  Claim,
  ClaimAnswer,
  ClaimedDelivery,
  ClaimRequest,
  Shares,
} from "../../../library/src/lanes/lane-store.js";
import type { Endpoint } from "../../../library/src/outbox/endpoint.js";
import { LaneTable } from "../../../library/src/stores/memory/lanes/lane-table.js";
import { EndpointTable } from "../../../library/src/stores/memory/outbox/endpoint-table.js";
import { Publications } from "../../../library/src/stores/memory/outbox/publications.js";
import { eachChange, eachPassing } from "./flaw.js";
import type { Flaw, Swaps } from "./flaw.js";

/** Flaws of claims and leases. */
export const claimFlaws = {
  lane_claimed_twice: {
    mutate: (swaps) =>
      swaps.swap(
        LaneTable.prototype,
        "lease",
        (right) =>
          function (this: LaneTable, lane, epoch, lease) {
            const { readyAt } = lane;
            right.call(this, lane, epoch, lease);
            lane.readyAt = readyAt;
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
      eachChange(swaps, (change) =>
        change.leasable === "nothing" ? change : { ...change, epoch: change.epoch - 1n },
      ),
  },
  lease_never_ends: {
    mutate: (swaps) =>
      swaps.swap(
        LaneTable.prototype,
        "lease",
        (right) =>
          function (this: LaneTable, lane, epoch, lease) {
            right.call(this, lane, epoch, lease);
            lane.readyAt = undefined;
          },
      ),
  },
  lease_a_moment_long: { mutate: (swaps) => swapLease(swaps, 1) },
  lease_a_moment_short: { mutate: (swaps) => swapLease(swaps, -1) },
  limit_ignored: { wrap: (inner) => ({ claim: (request) => inner.claim({ ...request, limit: 1000 }) }) },
  cap_ignored: {
    mutate: (swaps) =>
      swaps.swap(
        EndpointTable.prototype,
        "sorted",
        (right) =>
          function (this: EndpointTable) {
            return right.call(this).map(withoutCap);
          },
      ),
  },
  in_flight_not_subtracted: {
    wrap: (inner) => ({
      claim: (request) => inner.claim({ ...request, of: { kind: "endpoint" } as const, inFlight: new Map() }),
    }),
  },
  cap_over_all_endpoints: {
    wrap: (inner) => ({
      claim: async (request) => {
        const full = [...(request.inFlight?.values() ?? [])].some((count) => count > 2);
        return full ? { claims: [], lapsed: false } : inner.claim(request);
      },
    }),
  },
  shares_ignored: {
    wrap: (inner) => ({ claim: (request) => inner.claim({ ...request, shares: undefined }) }),
  },
  share_of_others_forgotten: {
    wrap: (inner) => ({
      claim: ({ shares, ...request }) =>
        inner.claim({ ...request, shares: shares && { of: shares.of, others: 1000 } }),
    }),
  },
  share_beside_what_is_held: {
    wrap: (inner) => ({
      claim: ({ shares, ...request }) =>
        inner.claim({ ...request, shares: shares && raised(shares, request) }),
    }),
  },
  brief_ignored: { wrap: (inner) => ({ claim: (request) => inner.claim({ ...request, brief: false }) }) },
  brief_without_turns: {
    wrap: (inner) => {
      const inTurn = chosen(inner, (claims) => claims.toSorted(byEndpoint));
      return {
        claim: (request) =>
          request.brief === true && inTurn.claim ? inTurn.claim(request) : inner.claim(request),
      };
    },
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
    mutate: (swaps) => eachPassing(swaps, (change) => ({ ...change, last: change.head - 1n })),
  },
  version_not_told: {
    wrap: (inner) => eachClaim(inner, (claim) => ({ ...claim, consumer: { ...claim.consumer, version: 1 } })),
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
  release_forgets_after_a_late_settlement: {
    wrap: (inner) => {
      const late = new Set<string>();
      return {
        settle: async (request) => {
          const answers = await inner.settle(request);
          if (answers.some(({ kind }) => kind === "stale")) late.add(request.worker);
          return answers;
        },
        release: (worker, held) => (late.has(worker) ? Promise.resolve(0) : inner.release(worker, held)),
      };
    },
  },
  release_forgets_what_was_claimed_again: {
    wrap: (inner) => {
      const forgotten: Pick<Claim, "kind" | "id">[] = [];
      return {
        settle: async (request) => {
          const answers = await inner.settle(request);
          const stale = request.settlements.filter((_, n) => answers[n]?.kind === "stale");
          forgotten.push(...stale.map(({ claim }) => claim));
          return answers;
        },
        release: (worker, held) => inner.release(worker, [...held, ...forgotten]),
      };
    },
  },
  release_keeps_the_lease: {
    mutate: (swaps) => {
      let releasing = false;
      swaps.swap(LANE_RULE, "released", (right) => (lane) => {
        releasing = true;
        return { ...right(lane), epoch: lane.epoch };
      });
      swaps.swap(
        LaneTable.prototype,
        "write",
        (right) =>
          function (this: LaneTable, lane, change, now) {
            const { lease } = lane;
            right.call(this, lane, change, now);
            if (releasing) lane.lease = lease;
            releasing = false;
          },
      );
    },
  },
  until_due_always_0: { wrap: () => ({ untilDue: () => Promise.resolve(0) }) },
  until_due_never: { wrap: () => ({ untilDue: () => Promise.resolve(undefined) }) },
  until_due_without_leases: {
    wrap: (inner) => ({
      untilDue: async () => ((await inner.untilDue({ kind: "endpoint" })) === 0 ? 0 : undefined),
    }),
  },
  until_due_of_the_first_endpoint: {
    wrap: (inner) => ({
      untilDue: async () => {
        const [first] = await inner.listEndpoints({ limit: 1 });
        const others = (await inner.listEndpoints({ limit: 100 })).slice(1);
        for (const { id } of others) await inner.changeEndpoint(id, { state: "paused" });
        const ms = await inner.untilDue({ kind: "endpoint" });
        for (const { id, state } of others) await inner.changeEndpoint(id, { state });
        return first === undefined ? undefined : ms;
      },
    }),
  },
  until_due_without_later_events: {
    mutate: (swaps) => swaps.swap(Publications.prototype, "untilNextMs", () => () => undefined),
  },
  until_due_counts_what_is_stopped: {
    wrap: (inner) => ({
      untilDue: async () =>
        (await inner.untilDue({ kind: "endpoint" })) ??
        ((await inner.blockedLanes({ limit: 1 })).items.length > 0 ? 0 : undefined),
    }),
  },
} satisfies Readonly<Record<string, Flaw>>;

type ClaimMaker = Pick<MemoryStore, "claim" | "settle">;

/** Changes every claim that is given out; those that come back have their own fields again. */
function eachClaim(inner: MemoryStore, change: (claim: Claim) => Claim): ClaimMaker {
  return {
    claim: async (request) => {
      const { claims, lapsed } = await inner.claim(request);
      return { claims: claims.map(change), lapsed };
    },
    settle: async (request) => {
      const answers = await inner.settle(request);
      return answers.map((each) =>
        each.kind === "stale" ? each : { kind: "settled", next: each.next && change(each.next) },
      );
    },
  };
}

function eachDelivery(
  inner: MemoryStore,
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
  inner: MemoryStore,
  order: (claims: readonly Claim[]) => readonly Claim[],
): Partial<MemoryStore> {
  // A worker of its own for each call: releasing must not take back what an earlier one kept.
  let calls = 0;
  return {
    claim: async (request): Promise<ClaimAnswer> => {
      const worker = `${request.worker} ${++calls}`;
      const { claims, lapsed } = await inner.claim({ ...request, worker, limit: request.alone ? 1 : 1000 });
      const kept = order(claims).slice(0, request.limit);
      await inner.release(worker, kept);
      return { claims: kept, lapsed };
    },
  };
}

function withoutCap(endpoint: Endpoint): Endpoint {
  return { ...endpoint, maxInFlight: 10_000 };
}

function byEndpoint(one: Claim, other: Claim): number {
  return one.consumer.id < other.consumer.id ? -1 : 1;
}

function swapLease(swaps: Swaps, moreMs: number): void {
  swaps.swap(
    LaneTable.prototype,
    "lease",
    (right) =>
      function (this: LaneTable, lane, epoch, lease) {
        right.call(this, lane, epoch, { ...lease, endsAt: lease.endsAt + moreMs });
      },
  );
}

/** Shares of what is claimed next, where they are of what the worker holds in all. */
function raised({ of, others }: Shares, { inFlight }: Pick<ClaimRequest, "inFlight">): Shares {
  const named = new Set([...of.keys(), ...(inFlight?.keys() ?? [])]);
  const more = (id: string): number => (of.get(id) ?? others) + (inFlight?.get(id) ?? 0);
  return { of: new Map([...named].map((id) => [id, more(id)])), others };
}
