import type { Event, IncomingEvent } from "posthorn";
import { isContentType, namesOf, newId, orderingKey, storableName, storableTime } from "posthorn/gateway";
import type { LiveSource } from "./live-source.js";
import type { ReceivedRequest } from "./received-request.js";

export interface NamedEvent {
  readonly incoming: IncomingEvent;
  /** The rule asks for the canonical form, and the body has none. */
  readonly fellBack: boolean;
}

/** How an event came in. */
export interface Arrival {
  readonly request: ReceivedRequest;
  readonly nowMs: number;
  /** The key that verified it; undefined where nobody signs. */
  readonly verifiedBy: string | undefined;
}

/** Makes the outbox's form of an event, with a new id. */
export function incomingEvent(
  live: LiveSource,
  event: Event,
  { request, nowMs, verifiedBy }: Arrival,
): NamedEvent {
  const { record, key } = live;
  const { names, fellBack } = namesOf(live.naming, event.id, event.body);
  const incoming: IncomingEvent = {
    event: {
      id: newId("evt", nowMs),
      idGiven: false,
      tenant: record.tenant,
      source: record.name,
      type: storableName(event.type, "unknown"),
      key: key && orderingKey(key, request.headers, event.body),
      body: event.body,
      contentHash: undefined,
      contentType: contentTypeOf(request),
      time: storableTime(event.time) ?? new Date(nowMs),
      deliverAt: undefined,
      expiresAt: undefined,
      headers: live.forwarded.of(request.headers),
      origin: { providerId: providerIdOf(event), verifiedBy },
    },
    names,
    windowS: record.windowS,
  };
  return { incoming, fellBack };
}

// The content type is sent on as a header; one that cannot be a header must not stop the event.
function contentTypeOf({ headers }: ReceivedRequest): string {
  const given = headers["content-type"];
  return isContentType(given) ? given : "application/octet-stream";
}

/** For people: an id that no column holds is shown in part, and found by its name all the same. */
function providerIdOf({ id }: Event): string | undefined {
  return id === undefined || id === "" ? undefined : storableName(id, "unreadable");
}
