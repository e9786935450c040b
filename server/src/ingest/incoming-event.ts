import type { Event, IncomingEvent } from "posthorn";
import type { LiveSource } from "./live-source.js";
import { namesOf } from "./names.js";
import { newId } from "./new-id.js";
import { orderingKey } from "./ordering-key.js";
import type { ReceivedRequest } from "./received-request.js";
import { storableText } from "./storable-text.js";

export interface NamedEvent {
  readonly incoming: IncomingEvent;
  /** Its canonical form was asked for, and it has none. */
  readonly fellBack: boolean;
}

/** An event of a request as the outbox takes it, under a new id of our own. */
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
      type: storableText(event.type, "unknown"),
      key: key && orderingKey(key, request.headers, event.body),
      body: event.body,
      contentHash: undefined,
      contentType: contentTypeOf(request),
      time: storableTime(event.time, nowMs),
      deliverAt: undefined,
      expiresAt: undefined,
      headers: live.forwarded.of(request.headers),
    },
    names,
    windowS: record.windowS,
  };
  return { incoming, fellBack };
}

// It is sent on as a header: what cannot be one must not stop the event.
function contentTypeOf({ headers }: ReceivedRequest): string {
  const given = headers["content-type"];
  return typeof given === "string" && /^[\x20-\x7e]{1,255}$/.test(given) ? given : "application/octet-stream";
}

const EARLIEST_MS = Date.UTC(1970, 0, 1);
const LATEST_MS = Date.UTC(9000, 0, 1);

// Beyond these, databases refuse a time, and the event would be answered 503 for ever.
function storableTime(time: Date | undefined, nowMs: number): Date {
  const ms = time?.getTime() ?? Number.NaN;
  return new Date(Number.isNaN(ms) ? nowMs : Math.min(Math.max(ms, EARLIEST_MS), LATEST_MS));
}
