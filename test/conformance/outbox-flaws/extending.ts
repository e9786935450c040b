import type { Flaw } from "./flaw.js";
import { LeaseBook } from "./lease-book.js";

/** Flaws of leases that are extended. */
export const extendingFlaws = {
  extend_does_nothing: {
    wrap: () => ({ extend: (_worker, leases) => Promise.resolve(leases.map(() => true)) }),
  },
  extend_by_a_moment: { wrap: (inner) => ({ extend: (worker, leases) => inner.extend(worker, leases, 1) }) },
  extend_raises_the_epoch: {
    wrap: (inner) => {
      const extended = new Set<string>();
      return {
        extend: (worker, leases, leaseMs) => {
          for (const { kind, id, epoch } of leases) extended.add(`${kind} ${id} ${epoch}`);
          return inner.extend(worker, leases, leaseMs);
        },
        settle: async (request) => {
          const answers = await inner.settle(request);
          return request.settlements.map(({ claim: { kind, id, epoch } }, n) =>
            extended.has(`${kind} ${id} ${epoch}`) ? { kind: "stale" } : (answers[n] ?? { kind: "stale" }),
          );
        },
      };
    },
  },
  extend_never_after_the_end: {
    wrap: (inner, clock) => {
      const book = new LeaseBook(inner, clock);
      return {
        ...book.verbs,
        extend: async (worker, leases, leaseMs) => {
          const ended = leases.map(({ id }) => book.hasEnded(id));
          const answers = await inner.extend(worker, leases, leaseMs);
          return answers.map((each, n) => each && ended[n] !== true);
        },
      };
    },
  },
  extend_of_any_worker: {
    wrap: (inner) => ({ extend: (_worker, leases, leaseMs) => inner.extend("worker_1", leases, leaseMs) }),
  },
  extend_always_true: {
    wrap: (inner) => ({
      extend: async (worker, leases, leaseMs) =>
        (await inner.extend(worker, leases, leaseMs)).map(() => true),
    }),
  },
  extend_all_or_none: {
    wrap: (inner) => ({
      extend: async (worker, leases, leaseMs) => {
        const answers = await inner.extend(worker, leases, leaseMs);
        return answers.map(() => answers.every(Boolean));
      },
    }),
  },
  extend_starts_the_lease_anew: {
    wrap: (inner, clock) => {
      const extendedAt = new Map<string, number>();
      return {
        extend: (worker, leases, leaseMs) => {
          for (const { id } of leases) extendedAt.set(String(id), clock.now());
          return inner.extend(worker, leases, leaseMs);
        },
        attempts: async (deliveryId) => {
          const at = extendedAt.get(deliveryId.split("_")[1] ?? "");
          const attempts = await inner.attempts(deliveryId);
          if (at === undefined) return attempts;
          return attempts.map((each) =>
            each.outcome === "lapsed" ? Object.assign(each, { startedAt: new Date(at) }) : each,
          );
        },
      };
    },
  },
  skip_of_an_extended_lease_at_once: {
    wrap: (inner) => {
      const extended = new Set<bigint>();
      return {
        extend: (worker, leases, leaseMs) => {
          for (const { id } of leases) extended.add(id);
          return inner.extend(worker, leases, leaseMs);
        },
        skip: async (laneId, head) => {
          const answer = await inner.skip(laneId, head);
          return extended.has(laneId) && answer === "intended" ? "skipped" : answer;
        },
      };
    },
  },
} satisfies Readonly<Record<string, Flaw>>;
