import { Holds } from "../../../library/src/stores/memory/lanes/hold.js";
import { filledBy } from "../../../library/src/hold-mark.js";
import type { FilledPlace, HoldMark } from "../../../library/src/hold-mark.js";
import type { MemoryStore } from "posthorn/memory";
import type { Hold } from "posthorn/operator";
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
  no_room_is_late: {
    wrap: (inner) => ({
      heldEvent: async (tenant, eventId) => {
        const record = await inner.heldEvent(tenant, eventId);
        return record && { ...record, isLate: record.isLate || record.sequence > 80n };
      },
    }),
  },
  given_up_gap_untold: {
    wrap: (inner) => {
      let steps = 0;
      return {
        sequence: () => (++steps === 1 ? Promise.resolve({ events: 0, more: true }) : inner.sequence()),
        claim: (request) =>
          steps === 1 ? Promise.resolve({ claims: [], lapsed: false }) : inner.claim(request),
      };
    },
  },
  any_event_starts_a_key: marked((mark) => ({ ...mark, first: undefined })),
  fill_does_nothing: {
    mutate: (swaps) => swaps.swap(Holds.prototype, "fill", () => () => undefined),
  },
  waiting_event_fills_its_place: {
    wrap: (inner) => ({
      ingest: async (incoming) => {
        const ingested = await inner.ingest(incoming);
        const place = ingested.kind === "stored" ? undefined : filledBy(incoming.event);
        if (place !== undefined) await inner.fill(place);
        return ingested;
      },
    }),
  },
  filled_place_lets_all_go: {
    mutate: (swaps) => {
      swaps.swap(
        Holds.prototype,
        "fill",
        (right) =>
          function (this: Holds, place) {
            right.call(this, { ...place, after: undefined });
          },
      );
    },
  },
  filled_in_any_key: {
    wrap: (inner) => ({
      fill: (place) => inner.fill(inOneKey(place)),
    }),
  },
  filled_for_ever: {
    mutate: (swaps) => swaps.swap(Holds.prototype, "forget", () => () => 0),
  },
  late_by_a_filled_place: {
    wrap: (inner) => {
      let highest = 0n;
      const late = claimed((mark) => ({ ...mark, late: mark.sequence < highest }));
      return {
        ...late.wrap(inner),
        fill: (place) => {
          highest = place.sequence;
          return inner.fill(place);
        },
      };
    },
  },
  late_untold: claimed((mark) => ({ ...mark, late: undefined })),
  redrive_judged_again: claimed((mark, round) => (round > 1 ? { ...mark, late: true } : mark)),
  held_events_of_any_key: {
    wrap: (inner) => ({
      heldEvents: (filter, page) => inner.heldEvents({ ...filter, key: undefined }, page),
    }),
  },
  held_events_without_what_is_missing: { wrap: (inner) => eachHeld(inner, { missing: undefined }) },
  held_for_ever: { wrap: (inner) => eachHeld(inner, { until: new Date(8.64e15) }) },
  decided_forgotten: {
    wrap: (inner) => ({
      heldEvent: async (tenant, id) => {
        const found = await inner.heldEvent(tenant, id);
        return found && { ...found, gap: undefined };
      },
    }),
  },
  late_not_shown: {
    wrap: (inner) => ({
      heldEvent: async (tenant, id) => {
        const found = await inner.heldEvent(tenant, id);
        return found && { ...found, isLate: false };
      },
    }),
  },
  release_lets_the_rest_wait: {
    mutate: (swaps) => swaps.swap(Holds.prototype, "release", () => () => ({ events: 1, gaps: [] })),
  },
  release_untold: claimed((mark) => ({ ...mark, gap: undefined })),
  released_twice: {
    wrap: (inner) => ({
      releaseHeld: async (tenant, id) => {
        const released = await inner.releaseHeld(tenant, id);
        return released.kind === "released" ? released : { kind: "released", events: 0, gaps: [] };
      },
    }),
  },
} satisfies Readonly<Record<string, Flaw>>;

function inOneKey(place: FilledPlace): FilledPlace {
  return { ...place, tenant: "default", source: "stripe", key: "k", generation: 1n };
}

/** What is held is shown with another hold than its own. */
function eachHeld(inner: MemoryStore, change: Partial<Hold>): Partial<MemoryStore> {
  return {
    heldEvents: async (filter, page) => {
      const { items, next } = await inner.heldEvents(filter, page);
      return {
        items: items.map((each) =>
          Object.assign({}, each, { hold: each.hold && Object.assign({}, each.hold, change) }),
        ),
        next,
      };
    },
  };
}

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
function claimed(alter: (mark: HoldMark, round: number) => HoldMark) {
  return {
    wrap: (inner: MemoryStore): Pick<MemoryStore, "claim"> => ({
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
