import type { MemoryStore } from "posthorn/memory";
import type { AttemptRecord } from "../../../library/src/lanes/attempt-record.js";
import { deliveryIdOf } from "../../../library/src/lanes/delivery-id.js";
import type { NextState, Settlement } from "../../../library/src/lanes/lane-store.js";
import { LANE_RULE } from "../../../library/src/lanes/lane-rule.js";
import type { Lane } from "../../../library/src/lanes/lane.js";
import { History } from "../../../library/src/stores/memory/lanes/history.js";
import { LaneTable } from "../../../library/src/stores/memory/lanes/lane-table.js";
import { tick } from "./flaw.js";
import type { Flaw, Swaps } from "./flaw.js";

/** Flaws of settlements and of the history that they write. */
export const settlingFlaws = {
  no_fence: {
    wrap: (inner) => {
      const newest = new Map<string, bigint>();
      const note = <T extends Settlement["claim"]>(claim: T): T => {
        newest.set(`${claim.kind} ${claim.id}`, claim.epoch);
        return claim;
      };
      return {
        claim: async (request) => {
          const { claims, lapsed } = await inner.claim(request);
          return { claims: claims.map(note), lapsed };
        },
        settle: async (request) => {
          const settlements = request.settlements.map((each) => ({
            ...each,
            claim: { ...each.claim, epoch: newest.get(`${each.claim.kind} ${each.claim.id}`) ?? 0n },
          }));
          const answers = await inner.settle({ ...request, settlements });
          for (const answer of answers) if (answer.kind === "settled" && answer.next) note(answer.next);
          return answers;
        },
      };
    },
  },
  ended_lease_is_stale: {
    wrap: (inner, clock) => {
      const ends = new Map<string, number>();
      const isLate = ({ claim }: Settlement): boolean =>
        clock.monotonic() >= (ends.get(`${claim.kind} ${claim.id}`) ?? Number.POSITIVE_INFINITY);
      return {
        claim: async (request) => {
          const answer = await inner.claim(request);
          for (const { kind, id } of answer.claims)
            ends.set(`${kind} ${id}`, clock.monotonic() + request.leaseMs);
          return answer;
        },
        settle: async (request) => {
          if (request.settlements.some(isLate)) return request.settlements.map(() => ({ kind: "stale" }));
          return inner.settle(request);
        },
      };
    },
  },
  stale_attempts_written: {
    wrap: (inner) => {
      const written = new Map<string, AttemptRecord[]>();
      return {
        settle: async (request) => {
          const answers = await inner.settle(request);
          request.settlements.forEach(({ claim, attempts }, index) => {
            if (answers[index]?.kind === "stale") written.set(idOf(claim), [...attempts]);
          });
          return answers;
        },
        attempts: async (id) => [...(await inner.attempts(id)), ...(written.get(id) ?? [])],
      };
    },
  },
  stale_disables_the_endpoint: {
    wrap: (inner) => ({
      settle: async (request) => {
        for (const { rest, claim } of request.settlements) {
          if (rest?.state === "disabled") await inner.changeEndpoint(claim.consumer.id, rest);
        }
        return inner.settle(request);
      },
    }),
  },
  lease_not_ended_by_settle: {
    mutate: (swaps) =>
      swaps.swap(
        LaneTable.prototype,
        "write",
        (right) =>
          function (this: LaneTable, lane, change, now) {
            const { lease } = lane;
            right.call(this, lane, change, now);
            lane.lease = lease;
          },
      ),
  },
  acknowledged_comes_again: { mutate: (swaps) => neverAcknowledged(swaps, () => true) },
  loose_comes_again: { mutate: (swaps) => neverAcknowledged(swaps, ({ kind }) => kind === "loose") },
  next_never: { wrap: (inner) => eachSettlement(inner, (each) => ({ ...each, next: false })) },
  next_always: { wrap: (inner) => eachSettlement(inner, (each) => ({ ...each, next: true })) },
  next_not_leased: {
    wrap: (inner) => ({
      settle: async (request) => {
        const answers = await inner.settle({ ...request, worker: "nobody" });
        await inner.release("nobody", []);
        return answers;
      },
    }),
  },
  next_leased_for_ever: {
    wrap: (inner) => ({ settle: (request) => inner.settle({ ...request, leaseMs: 1e12 }) }),
  },
  next_never_a_run: {
    wrap: (inner) => ({
      settle: (request) => inner.settle({ ...request, run: { ...request.run, maxEvents: 1 } }),
    }),
  },
  next_while_waiting: {
    wrap: (inner) => ({
      settle: async (request) => {
        const settlements = request.settlements.map((each) =>
          each.next && each.rest?.state === "due" ? { ...each, rest: { ...each.rest, afterMs: 0 } } : each,
        );
        return inner.settle({ ...request, settlements });
      },
    }),
  },
  settled_by_two: {
    wrap: (inner) => ({
      settle: async (request) => {
        await tick();
        const answers = await inner.settle(request);
        return answers.map((each) => (each.kind === "stale" ? { kind: "settled", next: undefined } : each));
      },
    }),
  },
  one_stale_spoils_all: {
    wrap: (inner) => ({
      settle: async (request) => {
        const answers = await inner.settle(request);
        const stale = answers.some(({ kind }) => kind === "stale");
        return stale ? answers.map(() => ({ kind: "stale" })) : answers;
      },
    }),
  },
  answers_out_of_order: {
    wrap: (inner) => ({ settle: async (request) => (await inner.settle(request)).toReversed() }),
  },
  wait_ignored: { wrap: (inner) => eachWait(inner, () => ({ afterMs: 0 })) },
  wait_a_moment_long: { wrap: (inner) => eachWait(inner, ({ afterMs }) => ({ afterMs: afterMs + 1 })) },
  wait_a_moment_short: {
    wrap: (inner) => eachWait(inner, ({ afterMs }) => ({ afterMs: Math.max(0, afterMs - 1) })),
  },
  retry_lets_the_next_past: {
    wrap: (inner) => ({
      settle: async (request) => {
        const settlements = request.settlements.map((each): Settlement => {
          const isRetry = each.rest?.state === "due" && each.claim.kind === "lane";
          return isRetry ? { ...each, rest: { state: "dead", because: "exhausted", policy: "skip" } } : each;
        });
        const answers = await inner.settle({ ...request, settlements });
        for (const { claim, rest } of request.settlements)
          if (rest?.state === "due") await inner.redrive(idOf(claim));
        return answers;
      },
    }),
  },
  loose_not_tried_again: {
    wrap: (inner) =>
      eachSettlement(inner, (each) =>
        each.claim.kind === "loose" ? { ...each, acknowledged: 1, rest: undefined } : each,
      ),
  },
  failure_not_counted: { wrap: (inner) => eachWait(inner, () => ({ counts: false })) },
  failure_always_counted: { wrap: (inner) => eachWait(inner, () => ({ counts: true })) },
  given_back_counts: {
    wrap: (inner) =>
      eachSettlement(inner, (each) => ({
        ...each,
        rest: each.acknowledged === 0 ? (each.rest ?? { state: "due", afterMs: 0, counts: true }) : each.rest,
      })),
  },
  given_back_waits: {
    wrap: (inner) =>
      eachSettlement(inner, (each) => ({
        ...each,
        rest:
          each.acknowledged < each.claim.run.length
            ? (each.rest ?? { state: "due", afterMs: 1e9, counts: false })
            : each.rest,
      })),
  },
  rest_of_a_run_lost: {
    wrap: (inner) =>
      eachSettlement(inner, (each) =>
        each.rest === undefined && each.acknowledged > 0
          ? { ...each, acknowledged: each.claim.run.length }
          : each,
      ),
  },
  run_acknowledged_in_part: {
    wrap: (inner) =>
      eachSettlement(inner, (each) => ({ ...each, acknowledged: Math.min(1, each.acknowledged) })),
  },
  run_failure_forgets_the_acknowledged: {
    wrap: (inner) =>
      eachSettlement(inner, (each) => (each.rest === undefined ? each : { ...each, acknowledged: 0 })),
  },
  cancelled_comes_again: {
    wrap: (inner) =>
      eachSettlement(inner, (each) =>
        each.rest?.state === "cancelled"
          ? { ...each, rest: { state: "due", afterMs: 0, counts: false } }
          : each,
      ),
  },
  cancelled_halts_its_lane: {
    wrap: (inner) =>
      eachSettlement(inner, (each) =>
        each.rest?.state === "cancelled"
          ? { ...each, rest: { state: "dead", because: "refused", policy: "halt" } }
          : each,
      ),
  },
  cancelled_without_record: {
    mutate: (swaps) => swaps.swap(History.prototype, "addCancelled", () => () => undefined),
  },
  attempts_not_written: {
    mutate: (swaps) => swaps.swap(History.prototype, "addAttempt", () => () => undefined),
  },
  attempts_newest_first: {
    mutate: (swaps) =>
      swaps.swap(
        History.prototype,
        "attempts",
        (right) =>
          function (this: History, id) {
            return right.call(this, id).toReversed();
          },
      ),
  },
  attempts_without_answer: {
    wrap: (inner) => ({
      attempts: async (id) => (await inner.attempts(id)).map(withoutAnswer),
    }),
  },
  attempts_of_the_last_round: {
    wrap: (inner) => ({
      attempts: async (id) => {
        const all = await inner.attempts(id);
        return all.filter(({ round }) => round === all.at(-1)?.round);
      },
    }),
  },
  attempts_of_the_head_only: {
    wrap: (inner) =>
      eachSettlement(inner, (each) => ({
        ...each,
        attempts: each.attempts.filter(({ sequence }) => sequence === each.claim.run[0].sequence),
      })),
  },
} satisfies Readonly<Record<string, Flaw>>;

function neverAcknowledged(swaps: Swaps, holds: (lane: Lane) => boolean): void {
  swaps.swap(
    LANE_RULE,
    "settled",
    (right) => (lane, settlement, how) =>
      right(lane, holds(lane) ? { ...settlement, acknowledged: 0 } : settlement, how),
  );
}

function withoutAnswer(attempt: AttemptRecord): AttemptRecord {
  return { ...attempt, answer: undefined };
}

function eachSettlement(
  inner: MemoryStore,
  change: (settlement: Settlement) => Settlement,
): Pick<MemoryStore, "settle"> {
  return {
    settle: (request) => inner.settle({ ...request, settlements: request.settlements.map(change) }),
  };
}

type Due = Extract<NextState, { state: "due" }>;

function eachWait(inner: MemoryStore, change: (due: Due) => Partial<Due>): Pick<MemoryStore, "settle"> {
  return eachSettlement(inner, (each) =>
    each.rest?.state === "due" ? { ...each, rest: { ...each.rest, ...change(each.rest) } } : each,
  );
}

function idOf({ kind, id, run }: Settlement["claim"]): string {
  return deliveryIdOf(kind === "lane" ? { kind, lane: id, sequence: run[0].sequence } : { kind, id });
}
