import { inboxName } from "../../consumer-name.js";
import type { Claim, ClaimedDelivery } from "../../lanes/lane-store.js";
import { PosthornError } from "../../posthorn-error.js";
import type { InboxErrorCode } from "../inbox-errors.js";
import type { StoredPayload } from "../inbox-store.js";

/** A delivery of a run as the inbox sees it. */
export interface StoredArrival {
  readonly delivery: ClaimedDelivery;
  readonly arrival: StoredPayload;
}

/** The deliveries of a claim as arrivals. A run ends before an event that it has already: one statement writes all rows. */
export function arrivalsOf({ run }: Claim): readonly StoredArrival[] {
  const seen = new Set<string>();
  const arrivals = run.map((delivery) => ({ delivery, arrival: arrivalOf(delivery) }));
  const repeated = arrivals.findIndex(({ arrival: { tenant, source, id } }) => {
    const key = JSON.stringify([tenant, source, id]);
    return seen.size === seen.add(key).size;
  });
  return repeated === -1 ? arrivals : arrivals.slice(0, repeated);
}

/** Under which consumer the inbox has the rows of a claim. */
export function inboxConsumer({ consumer }: Claim): string {
  return inboxName(consumer.id);
}

/** What of a stored event its row of the inbox is made of. */
export type StoredFacts = Pick<ClaimedDelivery["event"], "id" | "tenant" | "source" | "type" | "receipt">;

/** A delivery's event as the inbox names it. */
export function arrivalOf({ event }: { readonly event: StoredFacts }): StoredPayload {
  const { tenant, source, type, receipt } = event;
  if (receipt === undefined) {
    throw new PosthornError<InboxErrorCode>(
      "inbox_option_invalid",
      `The event ${event.id} has no receipt: it was published, and not stored for a handler.`,
    );
  }
  return {
    tenant,
    source,
    id: receipt.storedId,
    idPreview: receipt.idPreview,
    type,
    eventAt: receipt.time,
    bodyHash: receipt.bodyHash,
    windowS: receipt.windowS,
  };
}
