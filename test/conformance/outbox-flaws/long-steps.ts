import type { Flaw } from "./flaw.js";

/** Flaws of the steps of long handlers. */
export const longStepFlaws = {
  step_always_new: {
    wrap: (inner) => ({
      beginStep: async (key, storedAs) => {
        const known = await inner.beginStep(key, storedAs);
        return known.kind === "begun" ? { kind: "new" } : known;
      },
    }),
  },
  step_never_done: { wrap: () => ({ keepStep: () => Promise.resolve() }) },
  steps_shared_by_rounds: {
    wrap: (inner) => ({ beginStep: (key, storedAs) => inner.beginStep({ ...key, round: 1 }, storedAs) }),
  },
  steps_shared_by_consumers: {
    wrap: (inner) => ({ beginStep: (key, storedAs) => inner.beginStep({ ...key, consumer: "a" }, storedAs) }),
  },
  steps_kept_for_ever: {
    wrap: (inner) => ({ beginStep: (key) => inner.beginStep(key, "nobody's") }),
  },
  round_of_every_event_two: {
    wrap: () => ({ roundOf: () => Promise.resolve({ round: 2, outcome: undefined }) }),
  },
  round_without_its_outcome: {
    wrap: (inner) => ({
      roundOf: async (...event) => ({ ...(await inner.roundOf(...event)), outcome: undefined }),
    }),
  },
} satisfies Readonly<Record<string, Flaw>>;
