import type { Ingested } from "posthorn";
import { isPosthornError, readEvents } from "posthorn";
import type { ServerParts } from "../parts.js";
import type { RejectedRecord } from "../store/rejected-request.js";
import { incomingEvent } from "./incoming-event.js";
import { liveSource, verifiedRequest } from "./live-source.js";
import type { LiveSource } from "./live-source.js";
import { originOf, withOrigin } from "./received-request.js";
import type { Origin, ReceivedRequest } from "./received-request.js";

export type RetakeParts = Pick<ServerParts, "outbox" | "registry" | "metrics" | "activity" | "settings">;

/** What came of a rejected request that was to be taken in again. */
export type Retaken =
  | { readonly kind: "taken"; readonly events: readonly Ingested[] }
  /** It is wrong as before, or in another way. */
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  /** Only a part of it was kept, or it was never read. */
  | { readonly kind: "partial" }
  | { readonly kind: "source_unknown" };

const MOST_EVENTS = 10_000;

/**
 * Verifies a rejected request by its source as it is now, and stores its events once. Time is that of its receipt: a
 * signature that was young then is not refused because somebody took a day to mend the secret.
 */
export async function retake(parts: RetakeParts, rejected: RejectedRecord): Promise<Retaken> {
  if (rejected.whole === undefined) return { kind: "partial" };
  const record = await parts.registry.readSource(rejected.source);
  if (record === undefined) return { kind: "source_unknown" };
  const nowMs = rejected.receivedAt.getTime();
  try {
    const live = liveSource(record, { now: () => nowMs }, parts.settings.publicUrl);
    const request = requestOf(live, rejected, originOf(parts.settings));
    const verified = verifiedRequest(live, request);
    // Its sender waits for no answer any more.
    if (!live.unverified && live.verifier.scheme.handshake?.(verified) !== undefined)
      return { kind: "taken", events: [] };
    const events = readEvents(verified, record.name);
    if (events.length > MOST_EVENTS) {
      return {
        kind: "refused",
        code: "events_too_many",
        message: `It carries ${events.length} events; at most ${MOST_EVENTS} are taken at once.`,
      };
    }
    const verifiedBy = live.unverified ? undefined : verified.key;
    const named = events.map((event) => incomingEvent(live, event, { request, nowMs, verifiedBy }));
    const ingested = await Promise.all(named.map(({ incoming }) => parts.outbox.ingest(incoming)));
    ingested.forEach(({ kind, id }, n) => {
      const counted = {
        source: record.name,
        verdict: kind,
        type: named[n]?.incoming.event.type ?? "",
        eventId: id,
      };
      parts.metrics.ingested(counted.source, counted.verdict);
      parts.activity.ingested(counted);
    });
    return { kind: "taken", events: ingested };
  } catch (error) {
    // A database that is away is not the sender's fault.
    if (!isPosthornError(error) || error.code.startsWith("store_")) throw error;
    return { kind: "refused", code: error.code, message: error.message };
  }
}

function requestOf(
  live: LiveSource,
  { method, body, whole }: RejectedRecord,
  origin: Origin,
): ReceivedRequest {
  const { url = "/", headers = {}, rawHeaders } = whole ?? {};
  const request = {
    method,
    body,
    url,
    headers,
    ...(rawHeaders !== undefined && { rawHeaders }),
  } as ReceivedRequest;
  return live.needsOrigin ? withOrigin(request, origin) : request;
}
