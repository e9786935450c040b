import { filledByAnother } from "../../../hold-mark.js";
import type { IngestStore } from "../../../outbox/ingest-store.js";
import type { OutboxStore } from "../../../outbox/outbox-store.js";
import type { MemoryTx } from "../client/transaction.js";
import type { MemoryParts } from "../parts.js";
import { createEndpoints } from "./endpoints.js";
import type { Publications } from "./publications.js";

/** The verbs of publishing, of endpoints and of taking events in from elsewhere. */
export type MemoryOutbox = Omit<OutboxStore<MemoryTx, "asynchronous">, "capabilities" | "transactions"> &
  IngestStore;

export function createOutbox(parts: MemoryParts, publications: Publications): MemoryOutbox {
  const { wake, names, repeats, events: log } = parts;
  return {
    ...createEndpoints(parts, publications),
    wake,
    // oxlint-disable-next-line require-await -- a transaction that has ended makes it reject, not throw
    write: async (events, tx) => publications.write(events, tx),
    append(events) {
      const written = publications.append(events);
      wake.ring("committed");
      return Promise.resolve(written);
    },
    ingest(incoming) {
      const ingested = names.add(incoming);
      const { event } = incoming;
      const known = log.find(event.tenant, ingested.id);
      const filled = ingested.kind === "stored" ? undefined : filledByAnother(event, known);
      if (ingested.kind === "stored") publications.store(event);
      if (filled !== undefined) publications.holds.fill(filled);
      if (ingested.kind === "stored" || filled !== undefined) wake.ring("committed");
      return Promise.resolve(ingested);
    },
    fill(place) {
      publications.holds.fill(place);
      wake.ring("committed");
      return Promise.resolve();
    },
    recordRepeats(given) {
      repeats.add(given, (tenant, id) => log.find(tenant, id).at(-1)?.body);
      return Promise.resolve();
    },
    forgetNames: ({ maxNames }) => Promise.resolve(names.forget(maxNames)),
  };
}
