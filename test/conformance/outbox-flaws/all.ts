import { memoryStore } from "posthorn/memory";
import type { MemoryTx } from "posthorn/memory";
import type { OutboxHarness } from "posthorn/testing";
import { inProcessOutbox } from "../memory-harness.js";
import { applyingFlaws } from "./applying.js";
import { claimFlaws } from "./claims.js";
import { deadBulkFlaws } from "./dead-bulk.js";
import { endpointFlaws } from "./endpoints.js";
import { extendingFlaws } from "./extending.js";
import { fidelityFlaws } from "./fidelity.js";
import { flawed, Swaps } from "./flaw.js";
import type { Flaw } from "./flaw.js";
import { handlerFlaws } from "./handlers.js";
import { holdingFlaws } from "./holding.js";
import { ingestFlaws } from "./ingest.js";
import { laneFlaws } from "./lanes.js";
import { longStepFlaws } from "./long-steps.js";
import { lookupFlaws } from "./lookups.js";
import { retentionFlaws } from "./retention.js";
import { operatingFlaws } from "./operating.js";
import { newestFlaws } from "./newest.js";
import { pausingFlaws } from "./pausing.js";
import { removingFlaws } from "./removing.js";
import { retryingFlaws } from "./retrying.js";
import { runFlaws } from "./runs.js";
import { settlingFlaws } from "./settling.js";
import { skippingFlaws } from "./skipping.js";
import { replayFlaws } from "./replaying.js";
import { inboxViewFlaws } from "./inbox-views.js";
import { viewFlaws } from "./views.js";
import { writingFlaws } from "./writing.js";

const FLAWS = {
  ...writingFlaws,
  ...fidelityFlaws,
  ...endpointFlaws,
  ...claimFlaws,
  ...runFlaws,
  ...settlingFlaws,
  ...operatingFlaws,
  ...skippingFlaws,
  ...laneFlaws,
  ...extendingFlaws,
  ...handlerFlaws,
  ...applyingFlaws,
  ...longStepFlaws,
  ...pausingFlaws,
  ...removingFlaws,
  ...holdingFlaws,
  ...newestFlaws,
  ...ingestFlaws,
  ...lookupFlaws,
  ...deadBulkFlaws,
  ...retryingFlaws,
  ...retentionFlaws,
  ...viewFlaws,
  ...inboxViewFlaws,
  ...replayFlaws,
};

/** One way each in which an outbox can be wrong. */
export type OutboxFlaw = keyof typeof FLAWS;

export const OUTBOX_FLAWS = Object.keys(FLAWS) as readonly OutboxFlaw[];

/** Does something with a memory outbox that has the flaw; all others have it meanwhile, too. */
export async function withOutboxFlaw<T>(
  name: OutboxFlaw,
  work: (harness: OutboxHarness<MemoryTx>) => Promise<T>,
): Promise<T> {
  const flaw: Flaw = FLAWS[name];
  const swaps = new Swaps();
  flaw.mutate?.(swaps);
  const make = inProcessOutbox(
    (clock, firstEvent) => flawed(memoryStore({ clock, firstEvent }), clock, flaw),
    {
      patienceMs: 400,
    },
  );
  try {
    return await work(make);
  } finally {
    swaps.undo();
  }
}
