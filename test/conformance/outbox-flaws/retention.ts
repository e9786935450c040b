import type { MemoryStore } from "posthorn/memory";
import { History } from "../../../library/src/stores/memory/lanes/history.js";
import { LaneTable } from "../../../library/src/stores/memory/lanes/lane-table.js";
import { PlaceTable } from "../../../library/src/stores/memory/lanes/place-table.js";
import { GivenIds } from "../../../library/src/stores/memory/outbox/given-ids.js";
import type { RemovalStep } from "../../../library/src/retention/retention-store.js";
import type { Flaw } from "./flaw.js";

// True while the store removes: a lane that is there for all others is gone for the removal.
let removing = false;

/** Flaws of what removes old records. */
export const retentionFlaws = {
  removes_what_waits: {
    mutate: (swaps) =>
      swaps.swap(
        LaneTable.prototype,
        "has",
        (right) =>
          function has(this: LaneTable, lane) {
            return !removing && right.call(this, lane);
          },
      ),
    wrap: (inner) => ({
      removeOld(step) {
        removing = true;
        const removal = inner.removeOld(step);
        removing = false;
        return removal;
      },
    }),
  },
  event_lost_beside_a_removal: {
    wrap(inner) {
      let lost = false;
      return {
        async removeOld(step) {
          const removal = await inner.removeOld(step);
          lost ||= removal.kind === "done" && removal.removed > 0;
          return removal;
        },
        append: (events) => (lost ? Promise.resolve(events.map(() => "written")) : inner.append(events)),
      };
    },
  },
  removes_unresolved_dead_letters: {
    mutate: (swaps) => swaps.swap(History.prototype, "hasDead", () => () => false),
  },
  removes_at_any_age: { wrap: (inner) => eachStep(inner, () => ({ windowMs: 0 })) },
  removes_nothing: {
    wrap: () => ({ removeOld: () => Promise.resolve({ kind: "done", removed: 0, next: undefined }) }),
  },
  removes_lanes_that_are_told_of: {
    mutate: (swaps) => swaps.swap(PlaceTable.prototype, "isAnyIn", () => () => false),
  },
  lane_comes_back_in_its_generation: {
    mutate: (swaps) => swaps.swap(LaneTable.prototype, "raiseGeneration", () => () => undefined),
  },
  lanes_of_handlers_stay: {
    mutate: (swaps) =>
      swaps.swap(
        LaneTable.prototype,
        "removeEmpty",
        (right) =>
          function removeEmpty(this: LaneTable, lane) {
            if (lane.source === "") right.call(this, lane);
          },
      ),
  },
  given_id_goes_with_its_event: {
    mutate: (swaps) =>
      swaps.swap(
        GivenIds.prototype,
        "keepUntil",
        (right) =>
          function keepUntil(this: GivenIds, event) {
            right.call(this, event, 0);
          },
      ),
  },
  given_id_known_for_ever: {
    mutate: (swaps) => swaps.swap(GivenIds.prototype, "keepUntil", () => () => undefined),
  },
  removal_without_a_limit: { wrap: (inner) => eachStep(inner, () => ({ limit: 1_000_000 })) },
  cancelled_leaves_its_attempts: {
    mutate: (swaps) =>
      swaps.swap(
        History.prototype,
        "removeAttempts",
        (right) =>
          function removeAttempts(this: History, id, which) {
            return which === undefined ? right.call(this, id) : 0;
          },
      ),
  },
  answers_stay: { mutate: (swaps) => swaps.swap(History.prototype, "emptyAnswers", () => () => 0) },
  removal_untold: {
    wrap: (inner) => ({
      retention: async () => {
        const census = await inner.retention();
        return { ...census, kinds: census.kinds.map((kind) => Object.assign(kind, { removed: 0 })) };
      },
    }),
  },
} satisfies Readonly<Record<string, Flaw>>;

function eachStep(
  inner: MemoryStore,
  alter: (step: RemovalStep) => Partial<RemovalStep>,
): Partial<MemoryStore> {
  return { removeOld: (step) => inner.removeOld({ ...step, ...alter(step) }) };
}
