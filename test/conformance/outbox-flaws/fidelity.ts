import type { Written } from "../../../library/src/outbox/outbox-store.js";
import type { OutgoingEvent } from "../../../library/src/outbox/outgoing-event.js";
import { Publications } from "../../../library/src/stores/memory/outbox/publications.js";
import type { Flaw, Swaps } from "./flaw.js";

/** Flaws by which an event comes out as another than went in, or at another time. */
export const fidelityFlaws = {
  deliver_at_ignored: {
    mutate: (swaps) =>
      swapEvents(swaps, (events) => events.map((each) => ({ ...each, deliverAt: undefined }))),
  },
  deliver_at_in_the_past_lost: {
    mutate: (swaps) =>
      swapEvents(swaps, (events) =>
        events.filter(({ deliverAt }) => (deliverAt?.getFullYear() ?? 2030) > 2000),
      ),
  },
  deliver_at_never_due: {
    mutate: (swaps) => swaps.swap(Publications.prototype, "placeDue", () => () => 0),
  },
  body_as_text: {
    mutate: (swaps) =>
      swapEvents(swaps, (events) =>
        events.map((each) => ({
          ...each,
          body: new TextEncoder().encode(new TextDecoder().decode(each.body)),
        })),
      ),
  },
  large_publication_cut: {
    wrap: (inner) => ({
      append: async (events) => [
        ...(await inner.append(events.slice(0, 200))),
        ...events.slice(200).map((): Written => "written"),
      ],
    }),
  },
  time_in_seconds: {
    mutate: (swaps) =>
      swapEvents(swaps, (events) =>
        events.map((each) => ({ ...each, time: new Date(Math.floor(each.time.getTime() / 1000) * 1000) })),
      ),
  },
  content_type_always_json: {
    mutate: (swaps) =>
      swapEvents(swaps, (events) => events.map((each) => ({ ...each, contentType: "application/json" }))),
  },
  headers_lost: {
    mutate: (swaps) => swapEvents(swaps, (events) => events.map((each) => ({ ...each, headers: undefined }))),
  },
  keys_without_case: {
    mutate: (swaps) =>
      swapEvents(swaps, (events) => events.map((each) => ({ ...each, key: each.key?.toLowerCase() }))),
  },
  types_normalised: {
    mutate: (swaps) =>
      swapEvents(swaps, (events) => events.map((each) => ({ ...each, type: each.type.normalize("NFC") }))),
  },
} satisfies Readonly<Record<string, Flaw>>;

/** Changes events on their way in. */
function swapEvents(
  swaps: Swaps,
  change: (events: readonly OutgoingEvent[]) => readonly OutgoingEvent[],
): void {
  swaps.swap(
    Publications.prototype,
    "append",
    (right) =>
      function (this: Publications, events) {
        right.call(this, change(events));
        return events.map(() => "written");
      },
  );
  swaps.swap(
    Publications.prototype,
    "write",
    (right) =>
      function (this: Publications, events, tx) {
        right.call(this, change(events), tx);
        return events.map(() => "written");
      },
  );
}
