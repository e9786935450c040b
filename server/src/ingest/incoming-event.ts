import type { Event, IncomingEvent } from "posthorn";
import { isContentType, namesOf, newId, orderingKey, storableName, storableTime } from "posthorn/gateway";
import type { LiveSource } from "./live-source.js";
import type { ReceivedRequest } from "./received-request.js";

export interface NamedEvent {
  readonly incoming: IncomingEvent;
  /** The rule asks for the canonical form, and the body has none. */
  readonly fellBack: boolean;
}

/** Makes the outbox's form of an event, with a new id. */
export function incomingEvent(
  live: LiveSource,
  event: Event,
  request: ReceivedRequest,
  nowMs: number,
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
