import type { Claim } from "../../../library/src/lanes/lane-store.js";
import type { Flaw } from "./flaw.js";
import { LeaseBook } from "./lease-book.js";

/** Flaws of `apply`. */
export const applyingFlaws = {
  apply_of_the_head_called_all: {
    wrap: (inner) => ({
      apply: async (claim, work, limits) => {
        const applied = await inner.apply({ ...claim, run: [claim.run[0]] }, work, limits);
        return applied.kind === "applied" ? { ...applied, count: claim.run.length } : applied;
      },
    }),
  },
  apply_keeps_what_a_handler_wrote_before_it_threw: {
    wrap: (inner) => ({
      apply: (claim, work, limits) =>
        inner.apply(
          claim,
          async (tx, run) => {
            try {
              return await work(tx, run);
            } catch {
              return run.map(() => ({ outcome: "success" }));
            }
          },
          limits,
        ),
    }),
  },
  apply_acknowledges_more_than_it_was_given: {
    wrap: (inner) => ({
      apply: (claim, work, limits) =>
        inner.apply(claim, (tx, [head, ...others]) => work(tx, [head, ...others.slice(0, 7)]), limits),
    }),
  },
  apply_tells_the_round_of_the_delivery: {
    wrap: (inner) => ({
      apply: (claim, work, limits) =>
        inner.apply(
          claim,
          (tx, [head, ...others]) => work(tx, [{ ...head, inboxRound: head.round }, ...others]),
          limits,
        ),
    }),
  },
  apply_leases_nothing: {
    wrap: (inner) => ({
      apply: (claim, work, limits) => inner.apply(claim, work, { ...limits, next: false }),
    }),
  },
  apply_leases_another_consumers_lane: {
    wrap: (inner) => ({
      apply: async (claim, work, limits) => {
        const applied = await inner.apply(claim, work, limits);
        if (applied.kind !== "applied" || limits.other !== true) return applied;
        const of = { kind: "handler", ids: ["hnd_b"] } as const;
        const terms = { ...limits, of, limit: 1, inFlight: new Map<string, number>(), alone: false };
        return { ...applied, next: (await inner.claim(terms)).claims[0] };
      },
    }),
  },
  stale_apply_called_applied: {
    wrap: (inner) => ({
      apply: async (claim, work, limits) => {
        const applied = await inner.apply(claim, work, limits);
        return applied.kind === "stale" ? { kind: "applied", count: 1, next: undefined } : applied;
      },
    }),
  },
  apply_never_after_the_end: {
    wrap: (inner, clock) => {
      const book = new LeaseBook(inner, clock);
      return {
        ...book.verbs,
        apply: (claim, work, limits) =>
          book.hasEnded(claim.id) ? Promise.resolve({ kind: "stale" }) : inner.apply(claim, work, limits),
      };
    },
  },
  applied_event_applied_again: {
    wrap: (inner) => ({
      apply: (claim, work, limits) => inner.apply(renamed(claim), work, limits),
    }),
  },
  handlers_share_a_row: {
    wrap: (inner) => ({
      apply: (claim, work, limits) =>
        inner.apply({ ...claim, consumer: { ...claim.consumer, id: "hnd_default" } }, work, limits),
    }),
  },
  unnamed_handlers_have_rows_of_their_own: {
    wrap: (inner) => ({
      apply: (claim, work, limits) => {
        const id = claim.consumer.id === "hnd_default" ? "hnd_apart" : claim.consumer.id;
        return inner.apply({ ...claim, consumer: { ...claim.consumer, id } }, work, limits);
      },
    }),
  },
  applied_from_the_store_unknown_in_a_request: {
    wrap: (inner) => ({
      accept: async (arrival, work, limits) => {
        const accepted = await inner.accept(arrival, work, limits);
        if (accepted.kind !== "duplicate") return accepted;
        return inner.accept({ ...arrival, id: `again ${arrival.id}` }, work, limits);
      },
    }),
  },
  apply_locks_the_lane: {
    wrap: (inner) => {
      let running: Promise<unknown> = Promise.resolve();
      return {
        apply: (claim, work, limits) => {
          const applying = inner.apply(claim, work, limits);
          running = applying.catch(() => undefined);
          return applying;
        },
        ingest: async (incoming) => {
          await running;
          return inner.ingest(incoming);
        },
      };
    },
  },
} satisfies Readonly<Record<string, Flaw>>;

/** As if each of its events had an id that nobody has seen. */
function renamed(claim: Claim): Claim {
  for (const { event } of claim.run) {
    if (event.receipt) Object.assign(event, { receipt: { ...event.receipt, storedId: `new ${event.id}` } });
  }
  return claim;
}
