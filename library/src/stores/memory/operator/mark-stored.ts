import { arrivalOf } from "../../../inbox/worker/stored-arrival.js";
import type { UnhandledEvent } from "../../../operator/replay-store.js";
import type { AcceptParts } from "../inbox/accept.js";
import { appliedRow, textOf } from "../inbox/inbox-row.js";
import type { MemoryParts } from "../parts.js";

/** An event at a consumer, as the inbox names it. */
export interface AtConsumer {
  readonly tenant: string;
  readonly eventId: string;
  readonly consumer: string;
}

/** The event, where it was stored for handlers and the inbox has no row of it. */
export function unhandled(
  parts: MemoryParts,
  { rows }: AcceptParts,
  { tenant, eventId, consumer }: AtConsumer,
): readonly UnhandledEvent[] {
  const event = parts.events.find(tenant, eventId).at(-1);
  if (event?.receipt === undefined) return [];
  const { source, id, type, eventAt } = arrivalOf({ event });
  if (rows.has(textOf({ tenant, source, id }, consumer))) return [];
  return [{ eventId, source, id, type, eventAt }];
}

/** Writes the row of an event as if its handler had succeeded. */
export function markStored(
  parts: MemoryParts,
  { rows, applying, clock, nextNumber }: AcceptParts,
  { tenant, eventId, consumer }: AtConsumer,
): boolean {
  const event = parts.events.find(tenant, eventId).at(-1);
  if (event?.receipt === undefined) return false;
  // For ever: its dead letter and its event stay for as long, and a redrive after the row would apply it a second time.
  const arrival = { ...arrivalOf({ event }), windowS: undefined };
  const key = textOf(arrival, consumer);
  if (rows.has(key) || applying.has(key)) return false;
  const writing = { before: undefined, nowMs: clock.now(), number: nextNumber() };
  rows.set(
    key,
    appliedRow(arrival, { outcome: "success" }, { ...writing, owner: { consumer, storedAs: eventId } }),
  );
  return true;
}
