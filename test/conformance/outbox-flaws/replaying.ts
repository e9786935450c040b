import type { MemoryStore } from "posthorn/memory";
import type { WantedAgain } from "posthorn/operator";
import type { Flaw } from "./flaw.js";

/** Flaws of handling events again. */
export const replayFlaws = {
  replay_in_the_same_round: {
    wrap: (inner) => ({
      inboxRowsOf: async (...event) =>
        (await inner.inboxRowsOf(...event)).map((row) => Object.assign({}, row, { round: 1 })),
    }),
  },
  replay_of_any_round: { wrap: (inner) => eachWish(inner, (wanted) => ({ ...wanted, round: undefined })) },
  redrive_applied_again: {
    wrap: (inner) =>
      eachWish(inner, (wanted) => ({ ...wanted, verb: wanted.verb === "redrive" ? "replay" : "redrive" })),
  },
  pending_redriven_in_a_new_round: {
    wrap: (inner) => ({
      stageAgain: async (wanted) => {
        const results = await inner.stageAgain(wanted);
        return wanted.map(({ verb }, n) =>
          verb === "redrive" && results[n] === "staged" ? "unknown" : (results[n] ?? "unknown"),
        );
      },
    }),
  },
  replay_for_the_first_only: {
    wrap: (inner) => ({
      stageAgain: async (wanted) => {
        const [first = "unknown"] = await inner.stageAgain(wanted.slice(0, 1));
        return wanted.map(() => first);
      },
    }),
  },
  unknown_called_staged: {
    wrap: (inner) => ({
      stageAgain: async (wanted) =>
        (await inner.stageAgain(wanted)).map((result) => (result === "unknown" ? "staged" : result)),
    }),
  },
  forget_leaves_the_rows: {
    wrap: (inner) => ({
      forgetEvent: async (tenant, source, id) => {
        const rows = await inner.inboxRowsOf(tenant, source, id);
        return { kind: "forgotten", rows: rows.length, names: 1 };
      },
    }),
  },
  forget_leaves_the_steps: {
    wrap(inner) {
      let isForgotten = false;
      return {
        forgetEvent: (...event) => {
          isForgotten = true;
          return inner.forgetEvent(...event);
        },
        beginStep: async (key, storedAs) => {
          const known = await inner.beginStep(key, storedAs);
          return isForgotten ? { kind: "begun" } : known;
        },
      };
    },
  },
  forget_of_what_runs: {
    wrap: (inner) => ({
      forgetEvent: async (...event) => {
        const forgotten = await inner.forgetEvent(...event);
        return forgotten.kind === "busy" ? { kind: "forgotten", rows: 0, names: 1 } : forgotten;
      },
    }),
  },
  forget_of_what_is_pending: {
    wrap: (inner) => ({
      forgetEvent: async (...event) => {
        const forgotten = await inner.forgetEvent(...event);
        return forgotten.kind === "pending" ? { kind: "forgotten", rows: 1, names: 1 } : forgotten;
      },
    }),
  },
  mark_of_a_stored_event_changes_nothing: { wrap: () => ({ markStored: () => Promise.resolve(true) }) },
  unhandled_with_what_was_handled: {
    wrap: (inner) => ({
      unhandled: (tenant, ids) => inner.unhandled(tenant, ids, "nobody"),
    }),
  },
  mark_changes_nothing: { wrap: () => ({ markApplied: () => Promise.resolve(true) }) },
} satisfies Readonly<Record<string, Flaw>>;

function eachWish(inner: MemoryStore, change: (wanted: WantedAgain) => WantedAgain): Partial<MemoryStore> {
  return { stageAgain: (wanted) => inner.stageAgain(wanted.map(change)) };
}
