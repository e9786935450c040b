import { EndpointTable } from "../../../library/src/stores/memory/outbox/endpoint-table.js";
import type { Flaw } from "./flaw.js";
import { eachChange } from "./flaw.js";

/** Flaws of pauses of handlers. */
export const pausingFlaws = {
  pause_not_heeded: {
    mutate: (swaps) => swaps.swap(EndpointTable.prototype, "isActive", () => () => true),
  },
  pause_without_its_end: {
    mutate: (swaps) => swaps.swap(EndpointTable.prototype, "pausedUntilMs", () => () => undefined),
  },
  pause_never_ends: {
    mutate: (swaps) =>
      swaps.swap(
        EndpointTable.prototype,
        "pause",
        (right) =>
          function (this: EndpointTable, id, { because }) {
            return right.call(this, id, { because });
          },
      ),
  },
  pause_counts_as_a_failure: {
    mutate: (swaps) =>
      eachChange(swaps, (change) =>
        change.paused === undefined ? change : { ...change, failures: change.failures + 1 },
      ),
  },
  pause_forgotten_by_a_settlement: {
    mutate: (swaps) => eachChange(swaps, (change) => ({ ...change, paused: undefined })),
  },
  pause_forgotten_at_registration: {
    wrap: (inner) => ({
      register: async (consumers) => {
        for (const { id } of await inner.readHandlers()) await inner.resumeHandler(id);
        return inner.register(consumers);
      },
    }),
  },
  last_pause_counts: {
    wrap: (inner) => ({
      pauseHandler: async (id, pause) => {
        await inner.resumeHandler(id);
        return inner.pauseHandler(id, pause);
      },
    }),
  },
  pause_of_nobody: {
    wrap: (inner) => ({ pauseHandler: (id, { by: _by, ...pause }) => inner.pauseHandler(id, pause) }),
  },
  resume_says_nothing: {
    wrap: (inner) => ({ resumeHandler: async (id) => inner.resumeHandler(id).then(() => true) }),
  },
} satisfies Readonly<Record<string, Flaw>>;
