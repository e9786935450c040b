import { Holds } from "../../../library/src/stores/memory/lanes/hold.js";
import type { HoldMark } from "../../../library/src/hold-mark.js";
import type { Flaw } from "./flaw.js";

/** Flaws of events that are held until their turn in the sequence of their key comes. */
export const holdingFlaws = {
  hold_ignored: marked(() => undefined),
  hold_never_ends: {
    mutate: (swaps) => swaps.swap(Holds.prototype, "freeDue", () => () => 0),
  },
  hold_across_keys: {
    mutate: (swaps) => {
      swaps.swap(
        Holds.prototype,
        "take",
        (right) =>
          function (this: Holds, event) {
            return right.call(this, event.receipt?.hold ? { ...event, key: "one for all" } : event);
          },
      );
    },
  },
  held_until_untold: {
    mutate: (swaps) => swaps.swap(Holds.prototype, "untilNextMs", () => () => undefined),
  },
  hold_without_number: marked((mark) => ({ ...mark, maxEvents: 10_000 })),
  generations_mixed: marked((mark) => ({ ...mark, generation: 1n })),
  skipped_waited_for: marked((mark) => ({ ...mark, after: mark.sequence - 1n })),
  held_event_removed: {
    mutate: (swaps) => swaps.swap(Holds.prototype, "has", () => () => false),
  },
  late_untold: claimed((mark) => ({ ...mark, late: undefined })),
  redrive_judged_again: claimed((mark, round) => (round > 1 ? { ...mark, late: true } : mark)),
} satisfies Readonly<Record<string, Flaw>>;

/** Events are stored with another mark than theirs. */
function marked(alter: (mark: HoldMark) => HoldMark | undefined): Flaw {
  return {
    wrap: (inner) => ({
      ingest: (incoming) => {
        const { event } = incoming;
        if (event.receipt?.hold === undefined) return inner.ingest(incoming);
        const receipt = { ...event.receipt, hold: alter(event.receipt.hold) };
        return inner.ingest({ ...incoming, event: { ...event, receipt } });
      },
    }),
  };
}

/** Events are claimed with another mark than theirs. */
function claimed(alter: (mark: HoldMark, round: number) => HoldMark): Flaw {
  return {
    wrap: (inner) => ({
      claim: async (request) => {
        const answer = await inner.claim(request);
        for (const { event, round } of answer.claims.flatMap(({ run }) => run)) {
          const { receipt } = event;
          if (receipt?.hold === undefined) continue;
          Object.assign(event, { receipt: { ...receipt, hold: alter(receipt.hold, round) } });
        }
        return answer;
      },
    }),
  };
}
