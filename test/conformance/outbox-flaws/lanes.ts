import type { FakeClock } from "posthorn/testing";
import type { AttemptRecord } from "../../../library/src/lanes/attempt-record.js";
import { LANE_RULE } from "../../../library/src/lanes/lane-rule.js";
import type { Claim, Settlement } from "../../../library/src/lanes/lane-store.js";
import type { LaneSummary } from "../../../library/src/operator/lookup-store.js";
import type { BlockedLane, DeadLetter } from "../../../library/src/operator/operator-store.js";
import type { Flaw } from "./flaw.js";
import { LeaseBook } from "./lease-book.js";
import type { Outbox } from "./lease-book.js";

/** Flaws in what becomes of a lane whose lease has ended, was released or is to be skipped, and in how long it is blocked. */
export const laneFlaws = {
  lapse_written_at_its_end: {
    wrap: (inner) => ({
      attempts: async (id) =>
        (await inner.attempts(id)).map((each) => (each.outcome === "lapsed" ? atItsEnd(each) : each)),
    }),
  },
  attempt_without_a_next_state_not_counted: {
    wrap: (inner) =>
      eachSettlement(inner, (each) =>
        each.rest === undefined && each.acknowledged === 0 ? { ...each, attempts: [] } : each,
      ),
  },
  lapses_kept_by_an_attempt_that_returns: {
    mutate: (swaps) =>
      swaps.swap(LANE_RULE, "settled", (right) => (lane, ...given) => {
        const change = right(lane, ...given);
        return change.head === lane.head ? { ...change, lapses: lane.lapses } : change;
      }),
  },
  skip_of_an_ended_lease_intended: {
    wrap: (inner, clock) => {
      const book = new LeaseBook(inner, clock);
      return {
        ...book.verbs,
        skip: async (laneId, head) => {
          const hasEnded = book.hasEnded(laneId);
          const answer = await inner.skip(laneId, head);
          return hasEnded && answer === "skipped" ? "intended" : answer;
        },
      };
    },
  },
  skip_of_an_ended_lease_without_a_fence: {
    wrap: (inner, clock) => {
      const skipped = new Set<bigint>();
      return {
        ...onEndedSkip(inner, clock, (laneId) => skipped.add(laneId)),
        settle: async (request) => {
          const answers = await inner.settle(request);
          return request.settlements.map(({ claim: { kind, id } }, index) =>
            kind === "lane" && skipped.has(id)
              ? { kind: "settled", next: undefined }
              : (answers[index] ?? { kind: "stale" }),
          );
        },
      };
    },
  },
  skip_of_an_ended_lease_not_recorded: {
    wrap: (inner, clock) => {
      const skipped = new Set<string>();
      return {
        ...onEndedSkip(inner, clock, (laneId, head) => skipped.add(`dlv_${laneId}_${head}`)),
        attempts: async (id) => (skipped.has(id) ? [] : inner.attempts(id)),
      };
    },
  },
  release_leaves_the_skip_to_the_next_claim: {
    wrap: (inner, clock) => {
      const book = new LeaseBook(inner, clock);
      const wanted = new Map<bigint, bigint>();
      return {
        ...book.verbs,
        skip: async (laneId, head) => {
          if ((book.leftMs(laneId) ?? 0) <= 0) return inner.skip(laneId, head);
          wanted.set(laneId, head);
          return "intended";
        },
        claim: async (request) => {
          for (const [laneId, head] of wanted) await inner.skip(laneId, head);
          wanted.clear();
          return book.verbs.claim(request);
        },
      };
    },
  },
  skip_keeps_the_endpoint_running: {
    wrap: (inner) => {
      const intended = new Set<bigint>();
      return {
        skip: async (laneId, head) => {
          const answer = await inner.skip(laneId, head);
          if (answer === "intended") intended.add(laneId);
          return answer;
        },
        ...eachSettlement(inner, (each) =>
          each.rest?.state === "disabled" && intended.has(each.claim.id)
            ? { ...each, rest: { state: "due", afterMs: 0, counts: false } }
            : each,
        ),
      };
    },
  },
  paused_endpoint_not_disabled: {
    wrap: (inner) => ({
      settle: async (request) => {
        const paused = new Set<string>();
        for (const { claim } of request.settlements) {
          const [endpoint] = await inner.readEndpoints([claim.consumer.id]);
          if (endpoint?.state === "paused") paused.add(endpoint.id);
        }
        const settlements = request.settlements.map((each): Settlement => {
          const stays = each.rest?.state === "disabled" && paused.has(each.claim.consumer.id);
          return stays ? { ...each, rest: { state: "due", afterMs: 0, counts: false } } : each;
        });
        return inner.settle({ ...request, settlements });
      },
    }),
  },
  disabled_endpoint_disabled_again: {
    wrap: (inner) => ({
      settle: async (request) => {
        const answers = await inner.settle(request);
        for (const { claim, rest } of request.settlements) {
          if (rest?.state === "disabled") await inner.changeEndpoint(claim.consumer.id, rest);
        }
        return answers;
      },
    }),
  },
  dead_told_by_any_attempt: {
    wrap: (inner) => ({
      deadLetters: async (page) => {
        const { items, next } = await inner.deadLetters(page);
        const told = items.map(async (each): Promise<DeadLetter> => {
          const last = (await inner.attempts(each.id)).at(-1);
          return Object.assign(each, { lastStatus: last?.status });
        });
        return { items: await Promise.all(told), next };
      },
    }),
  },
  dead_of_a_removed_endpoint_listed: {
    wrap: (inner) => {
      const kept: DeadLetter[] = [];
      return {
        removeEndpoint: async (id) => {
          const { items } = await inner.deadLetters({ limit: 100 });
          kept.push(...items.filter(({ endpointId }) => endpointId === id));
          return inner.removeEndpoint(id);
        },
        deadLetters: async (page) => {
          const { items, next } = await inner.deadLetters(page);
          return { items: [...items, ...kept], next };
        },
      };
    },
  },
  run_never_after_a_release: {
    wrap: (inner) => {
      let released = false;
      return {
        release: async (worker, held) => {
          released = true;
          return inner.release(worker, held);
        },
        claim: (request) =>
          inner.claim(released ? { ...request, run: { ...request.run, maxEvents: 1 } } : request),
      };
    },
  },
  round_lost_by_a_release: {
    wrap: (inner) => {
      let released = false;
      return {
        release: (worker, held) => {
          released = true;
          return inner.release(worker, held);
        },
        claim: async (request) => {
          const { claims, lapsed } = await inner.claim(request);
          const lost = claims.map((each): Claim => {
            const [head, ...others] = each.run;
            return { ...each, run: [{ ...head, round: 1 }, ...others] };
          });
          return { claims: released ? lost : claims, lapsed };
        },
      };
    },
  },
  blocked_without_lapses: {
    wrap: (inner) => ({
      blockedLanes: async (page) => {
        const { items, next } = await inner.blockedLanes(page);
        return { items: items.filter(({ state, failures }) => state !== "retrying" || failures > 0), next };
      },
    }),
  },
  blocked_since_any_head_failed: {
    wrap: (inner, clock) => {
      const since = new Map<bigint, number>();
      return {
        settle: (request) => {
          for (const { claim, rest } of request.settlements) {
            if (rest?.state === "due" && !since.has(claim.id)) since.set(claim.id, clock.monotonic());
          }
          return inner.settle(request);
        },
        ...eachBlocked(inner, ({ id, blockedMs }) => {
          const at = since.get(id);
          return { blockedMs: at === undefined ? blockedMs : clock.monotonic() - at };
        }),
      };
    },
  },
  blocked_since_the_endpoint_stopped: {
    wrap: (inner, clock) => {
      const { stoppedForMs, ...verbs } = stops(inner, clock);
      return {
        ...verbs,
        ...eachBlocked(inner, ({ endpointId, blockedMs }) => ({
          blockedMs: stoppedForMs(endpointId) ?? blockedMs,
        })),
      };
    },
  },
  lane_blocked_since_the_endpoint_stopped: {
    wrap: (inner, clock) => {
      const { stoppedForMs, ...verbs } = stops(inner, clock);
      return {
        ...verbs,
        ...eachLane(inner, ({ endpointId, blockedMs }) => ({
          blockedMs: stoppedForMs(endpointId) ?? blockedMs,
        })),
      };
    },
  },
  blocked_due_when_its_lease_ends: {
    wrap: (inner, clock) => {
      const book = new LeaseBook(inner, clock);
      return {
        ...book.verbs,
        ...eachBlocked(inner, ({ id, dueInMs }) => ({ dueInMs: book.leftMs(id) ?? dueInMs })),
      };
    },
  },
  lane_due_when_its_lease_ends: {
    wrap: (inner, clock) => {
      const book = new LeaseBook(inner, clock);
      return {
        ...book.verbs,
        ...eachLane(inner, ({ id, dueInMs }) => ({ dueInMs: book.leftMs(id) ?? dueInMs })),
      };
    },
  },
} satisfies Readonly<Record<string, Flaw>>;

function atItsEnd(attempt: AttemptRecord): AttemptRecord {
  const endedAt = new Date(attempt.startedAt.getTime() + attempt.durationMs);
  return { ...attempt, startedAt: endedAt, durationMs: 0 };
}

function eachSettlement(
  inner: Outbox,
  change: (settlement: Settlement) => Settlement,
): Pick<Outbox, "settle"> {
  return {
    settle: (request) => inner.settle({ ...request, settlements: request.settlements.map(change) }),
  };
}

/** Notes the heads that were skipped when their leases had ended. */
function onEndedSkip(
  inner: Outbox,
  clock: FakeClock,
  note: (laneId: bigint, head: bigint) => void,
): Pick<Outbox, "claim" | "release" | "skip"> {
  const book = new LeaseBook(inner, clock);
  const { claim, release } = book.verbs;
  return {
    claim,
    release,
    skip: async (laneId, head) => {
      if (book.hasEnded(laneId)) note(laneId, head);
      return inner.skip(laneId, head);
    },
  };
}

/** Notes when endpoints were stopped. */
function stops(
  inner: Outbox,
  clock: FakeClock,
): Pick<Outbox, "changeEndpoint"> & { readonly stoppedForMs: (id: string) => number | undefined } {
  const stoppedAt = new Map<string, number>();
  return {
    changeEndpoint: (id, change) => {
      if (change.state === "paused") stoppedAt.set(id, clock.monotonic());
      return inner.changeEndpoint(id, change);
    },
    stoppedForMs: (id) => {
      const at = stoppedAt.get(id);
      return at === undefined ? undefined : clock.monotonic() - at;
    },
  };
}

function eachBlocked(
  inner: Outbox,
  change: (lane: BlockedLane) => Partial<BlockedLane>,
): Pick<Outbox, "blockedLanes"> {
  return {
    blockedLanes: async (page) => {
      const { items, next } = await inner.blockedLanes(page);
      return { items: items.map((each) => Object.assign({}, each, change(each))), next };
    },
  };
}

function eachLane(
  inner: Outbox,
  change: (lane: LaneSummary) => Partial<LaneSummary>,
): Pick<Outbox, "lane" | "lanes"> {
  return {
    lanes: async (filter, page) => {
      const { items, next } = await inner.lanes(filter, page);
      return { items: items.map((each) => Object.assign({}, each, change(each))), next };
    },
    lane: async (id) => {
      const found = await inner.lane(id);
      return found && { ...found, ...change(found) };
    },
  };
}
