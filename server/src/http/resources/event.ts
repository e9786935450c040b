import type { DeliverySummary, EventSummary as EventRecord, StoredEvent } from "posthorn/operator";
import type { EventDetail, EventInput, EventSummary, PublishedEvent } from "posthorn/client";
import { showDelivery } from "./delivery.js";
import type { FieldsOf } from "./text.js";
import { INSTANT, instant, MAYBE_INSTANT, MAYBE_TEXT, whole } from "./text.js";

const NAME = { type: "string", minLength: 1, maxLength: 255 } as const;
const HEADERS = { type: "object", additionalProperties: { type: "string" } } as const;

export const EVENT_INPUT: object = {
  $id: "EventInput",
  type: "object",
  required: ["type"],
  additionalProperties: false,
  properties: {
    type: NAME,
    data: {
      description: "Any JSON; sent as `{ type, timestamp, data }`, with exactly the bytes of the request.",
    },
    body: { type: "string", description: "The exact bytes to send instead, as base64." },
    contentType: { ...NAME, description: "Of `body`." },
    key: { ...NAME, description: "Events of one key are delivered in order." },
    id: {
      type: "string",
      pattern: "^[\\x21-\\x2d\\x2f-\\x7e]{1,255}$",
      description: "1 to 255 visible ASCII characters without a full stop.",
    },
    tenant: NAME,
    source: NAME,
    time: { ...INSTANT, description: "When it happened; now where it is left out." },
    deliverAt: { ...INSTANT, description: "Not before." },
    expiresAt: { ...INSTANT, description: "Not after." },
    headers: { ...HEADERS, description: "Sent along; none that signs or frames the request." },
  } satisfies FieldsOf<EventInput>,
};

export const PUBLISHED_EVENT: object = {
  $id: "PublishedEvent",
  ...whole<PublishedEvent>({
    id: { type: "string" },
    duplicate: { type: "boolean", description: "It was published before, and is not sent again." },
  }),
};

const FIELDS = {
  id: { type: "string" },
  tenant: { type: "string" },
  source: { type: "string" },
  type: { type: "string" },
  key: MAYBE_TEXT,
  time: INSTANT,
  contentType: { type: "string" },
  bodyBytes: { type: "integer" },
  direction: { type: "string", enum: ["in", "out"], description: "`in`: from a source; `out`: published." },
  writtenAt: { ...INSTANT, description: "When it was stored." },
  providerId: { ...MAYBE_TEXT, description: "The id that its provider gave it." },
  verifiedBy: { ...MAYBE_TEXT, description: "The key that verified its signature." },
  causedBy: { ...MAYBE_TEXT, description: "The event whose handler published it." },
  deliverAt: MAYBE_INSTANT,
  expiresAt: MAYBE_INSTANT,
} as const;

export const EVENT_SUMMARY: object = { $id: "EventSummary", ...whole<EventSummary>(FIELDS) };

export const EVENT_DETAIL: object = {
  $id: "EventDetail",
  ...whole<EventDetail>({
    ...FIELDS,
    headers: HEADERS,
    deliveries: { type: "array", items: { $ref: "Delivery#" } },
  }),
};

export function showEvent(event: EventRecord): EventSummary {
  return {
    id: event.id,
    tenant: event.tenant,
    source: event.source,
    type: event.type,
    key: event.key ?? null,
    time: event.time.toISOString(),
    contentType: event.contentType,
    bodyBytes: event.bodyBytes,
    direction: event.direction,
    writtenAt: event.writtenAt.toISOString(),
    providerId: event.providerId ?? null,
    verifiedBy: event.verifiedBy ?? null,
    causedBy: event.causedBy ?? null,
    deliverAt: instant(event.deliverAt),
    expiresAt: instant(event.expiresAt),
  };
}

export function showEventDetail(event: StoredEvent, deliveries: readonly DeliverySummary[]): EventDetail {
  return { ...showEvent(event), headers: event.headers, deliveries: deliveries.map(showDelivery) };
}
