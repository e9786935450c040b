import type { IncomingEvent, Ingested } from "../../../library/src/outbox/ingest-store.js";
import type { OutgoingEvent } from "../../../library/src/outbox/outgoing-event.js";
import { IngestNames } from "../../../library/src/stores/memory/outbox/ingest.js";
import { Publications } from "../../../library/src/stores/memory/outbox/publications.js";
import { tick } from "./flaw.js";
import type { Flaw, Swaps } from "./flaw.js";

/** Flaws of `ingest` and `forgetNames`. */
export const ingestFlaws = {
  ingest_loses_the_event: {
    mutate: (swaps) => swaps.swap(Publications.prototype, "store", () => () => undefined),
  },
  ingest_without_headers: {
    mutate: (swaps) => swapStored(swaps, { headers: undefined }),
  },
  ingest_ignores_deliver_at: {
    mutate: (swaps) => swapStored(swaps, { deliverAt: undefined }),
  },
  name_forgotten: {
    mutate: (swaps) =>
      swaps.swap(IngestNames.prototype, "add", () => ({ event }) => ({ kind: "stored", id: event.id })),
  },
  duplicate_stored_again: {
    wrap: (inner) => ({
      ingest: async (incoming) => {
        const ingested = await inner.ingest(incoming);
        if (ingested.kind === "duplicate") await inner.append([incoming.event]);
        return ingested;
      },
    }),
  },
  duplicate_told_its_own_id: {
    mutate: (swaps) => swapAnswer(swaps, (answer, { event }) => ({ ...answer, id: event.id })),
  },
  other_body_is_a_duplicate: {
    mutate: (swaps) =>
      swapAnswer(swaps, (answer) => (answer.kind === "conflict" ? { ...answer, kind: "duplicate" } : answer)),
  },
  conflict_leaves_its_names: {
    mutate: (swaps) =>
      swaps.swap(
        IngestNames.prototype,
        "add",
        (right) =>
          function (this: IngestNames, incoming) {
            const answer = right.call(this, incoming);
            const fresh = { ...incoming, event: { ...incoming.event, id: answer.id } };
            if (answer.kind === "conflict") {
              for (const name of incoming.names) right.call(this, { ...fresh, names: [name] });
            }
            return answer;
          },
      ),
  },
  missing_hash_is_a_conflict: {
    mutate: (swaps) => {
      const none = new Uint8Array(1);
      swapIncoming(swaps, (incoming) => ({
        ...incoming,
        names: each(incoming, ({ name, bodyHash = none }) => ({ name, bodyHash })),
      }));
    },
  },
  only_the_first_name_kept: {
    mutate: (swaps) => swapIncoming(swaps, (incoming) => ({ ...incoming, names: [incoming.names[0]] })),
  },
  further_names_not_learnt: {
    mutate: (swaps) =>
      swaps.swap(
        IngestNames.prototype,
        "add",
        (right) =>
          function (this: IngestNames, incoming) {
            const probe = new Map<string, Ingested>();
            for (const name of incoming.names) {
              if (known(this, right, incoming, name.name)) {
                probe.set(name.name, right.call(this, { ...incoming, names: [name] }));
              }
            }
            const [first] = probe.values();
            return first ?? right.call(this, incoming);
          },
      ),
  },
  names_across_tenants: {
    mutate: (swaps) =>
      swapIncoming(swaps, (incoming) => ({ ...incoming, event: { ...incoming.event, tenant: "" } })),
  },
  names_without_case: {
    mutate: (swaps) =>
      swapIncoming(swaps, (incoming) => ({
        ...incoming,
        names: each(incoming, ({ name, bodyHash }) => ({ name: name.toLowerCase(), bodyHash })),
      })),
  },
  names_never_pass: {
    mutate: (swaps) => swapIncoming(swaps, (incoming) => ({ ...incoming, windowS: undefined })),
  },
  window_from_the_first_receipt: {
    wrap: (inner, clock) => {
      const ends = new Map<string, number>();
      return {
        ingest: (incoming) => {
          const { name } = incoming.names[0];
          const now = clock.monotonic();
          const endsAt = ends.get(name) ?? now + (incoming.windowS ?? 1e9) * 1000;
          ends.set(name, endsAt);
          return inner.ingest({ ...incoming, windowS: Math.max(0, (endsAt - now) / 1000) });
        },
      };
    },
  },
  every_name_renews: {
    mutate: (swaps) =>
      swapIncoming(swaps, (incoming) => ({
        ...incoming,
        names: each(incoming, ({ name, bodyHash }) => ({ name, bodyHash })),
      })),
  },
  window_shortened: {
    mutate: (swaps) => {
      const max = Math.max;
      swaps.swap(
        IngestNames.prototype,
        "add",
        (right) =>
          function (this: IngestNames, incoming) {
            Math.max = (...values: number[]) => values.at(-1) ?? 0;
            try {
              return right.call(this, incoming);
            } finally {
              Math.max = max;
            }
          },
      );
    },
  },
  ingest_looks_then_stores: {
    wrap: (inner) => {
      const names = new Set<string>();
      return {
        ingest: async (incoming) => {
          const isNew = incoming.names.every(({ name }) => !names.has(name));
          await tick();
          for (const { name } of incoming.names) names.add(name);
          const answer = await inner.ingest(incoming);
          if (!isNew || answer.kind === "stored") return answer;
          await inner.append([incoming.event]);
          return { kind: "stored", id: incoming.event.id };
        },
      };
    },
  },
  ingest_out_of_order: {
    wrap: (inner) => {
      let waiting: (() => void)[] = [];
      const flush = (): void => {
        const batch = waiting.toReversed();
        waiting = [];
        for (const go of batch) go();
      };
      return {
        ingest: async (incoming) => {
          await new Promise<void>((resolve) => {
            if (waiting.push(resolve) === 1) setTimeout(flush, 0);
          });
          return inner.ingest(incoming);
        },
      };
    },
  },
  names_always_forgotten_up_to_the_limit: {
    mutate: (swaps) => swaps.swap(IngestNames.prototype, "forget", () => (maxNames) => maxNames),
  },
  names_never_forgotten: {
    mutate: (swaps) => swaps.swap(IngestNames.prototype, "forget", () => () => 0),
  },
  names_forgotten_beyond_the_limit: {
    mutate: (swaps) =>
      swaps.swap(
        IngestNames.prototype,
        "forget",
        (right) =>
          function (this: IngestNames) {
            return right.call(this, 1000);
          },
      ),
  },
} satisfies Readonly<Record<string, Flaw>>;

/** Changes events on their way from their names to their places. */
function swapStored(swaps: Swaps, change: Partial<OutgoingEvent>): void {
  swaps.swap(
    Publications.prototype,
    "store",
    (right) =>
      function (this: Publications, event) {
        right.call(this, { ...event, ...change });
      },
  );
}

type Names = IncomingEvent["names"];

function each({ names }: IncomingEvent, change: (name: Names[0]) => Names[0]): Names {
  return names.map(change) as unknown as Names;
}

/** Whether a name is known, without adding it. */
function known(
  names: IngestNames,
  right: IngestNames["add"],
  { event }: IncomingEvent,
  name: string,
): boolean {
  const probe = { ...event, id: "probe" };
  const answer = right.call(names, { event: probe, names: [{ name, bodyHash: undefined }], windowS: 0 });
  return answer.kind !== "stored";
}

/** Changes events on their way to where their names are judged; they are stored as they are. */
function swapIncoming(swaps: Swaps, change: (incoming: IncomingEvent) => IncomingEvent): void {
  swaps.swap(
    IngestNames.prototype,
    "add",
    (right) =>
      function (this: IngestNames, incoming) {
        return right.call(this, change(incoming));
      },
  );
}

function swapAnswer(swaps: Swaps, change: (answer: Ingested, incoming: IncomingEvent) => Ingested): void {
  swaps.swap(
    IngestNames.prototype,
    "add",
    (right) =>
      function (this: IngestNames, incoming) {
        return change(right.call(this, incoming), incoming);
      },
  );
}
