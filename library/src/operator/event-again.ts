import type { Arrival } from "../inbox/inbox-store.js";
import { encodeHex } from "../bytes.js";
import { newId } from "../id.js";
import type { OutgoingEvent } from "../outbox/outgoing-event.js";

// What was refused, or failed within its request, says no longer how long it is to be remembered.
const REMEMBERED_S = 14 * 24 * 3600;

/** All that is left of an event that was never stored for handlers. */
export interface KeptArrival extends Omit<Arrival, "headers" | "windowS"> {
  readonly headers: Readonly<Record<string, string>>;
}

/** The id under which a conflict is handled: its own is that of another body, which was applied or waits. */
export function conflictId(id: string, bodyHash: Uint8Array): string {
  return `${id.slice(0, 240)}~${encodeHex(bodyHash).slice(0, 12)}`;
}

/** The event as a receiver would have stored it, with the key by which its receiver orders events. */
export function eventAgain(
  { tenant, source, type, id, idPreview, eventAt, headers, body, bodyHash, key }: KeptArrival,
  { nowMs, causedBy }: { readonly nowMs: number; readonly causedBy?: string | undefined },
): OutgoingEvent {
  return {
    id: newId("evt", nowMs),
    idGiven: false,
    tenant,
    source,
    type,
    key,
    body,
    contentHash: undefined,
    contentType: headers["content-type"] ?? "application/octet-stream",
    headers,
    origin: { providerId: id, verifiedBy: undefined },
    causedBy,
    receipt: { id, storedId: id, idPreview, time: eventAt, bodyHash, windowS: REMEMBERED_S },
    time: eventAt ?? new Date(nowMs),
    deliverAt: undefined,
    expiresAt: undefined,
  };
}
