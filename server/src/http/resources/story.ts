import type {
  End,
  Found,
  LaneWaiting,
  Repeat,
  Step,
  Story,
  StoryDelivery,
  WaitingDelivery,
} from "posthorn/client";
import { DELIVERY_FIELDS } from "./delivery.js";
import { BIG, INSTANT, MAYBE_INSTANT, MAYBE_NUMBER, MAYBE_TEXT, whole } from "./text.js";

const TEXT = { type: "string" } as const;
const HEADERS = { type: "object", additionalProperties: { type: "string" } } as const;

const REPEAT = whole<Repeat>({
  kind: { type: "string", enum: ["duplicate", "conflict"] },
  receipts: { type: "integer", description: "How often these bytes came." },
  firstAt: INSTANT,
  lastAt: INSTANT,
  headers: { ...HEADERS, description: "Without credentials." },
  bodyBytes: { type: "integer" },
  bodySha256: TEXT,
  body: { ...MAYBE_TEXT, description: "As base64; null where the bytes are the event's own." },
});

const END = whole<End>({
  round: { type: "integer" },
  how: { type: "string", enum: ["dead", "cancelled"] },
  because: TEXT,
  at: INSTANT,
  resolvedAt: MAYBE_INSTANT,
  resolvedHow: { type: ["string", "null"], enum: ["redriven", "skipped", "cancelled", "forgotten", null] },
});

const STEP = whole<Step>({
  at: MAYBE_INSTANT,
  afterMs: { ...MAYBE_NUMBER, description: "Since the step before." },
  kind: {
    type: "string",
    enum: [
      "received",
      "verified",
      "published",
      "stored",
      "duplicate",
      "conflict",
      "held",
      "decided",
      "placed",
      "attempt",
      "delivered",
      "dead",
      "cancelled",
      "redriven",
      "skipped",
      "deed",
      "waiting",
      "next_attempt",
    ],
  },
  future: { type: "boolean", description: "True for what is still to come." },
  text: TEXT,
  endpointId: MAYBE_TEXT,
  deliveryId: MAYBE_TEXT,
  round: MAYBE_NUMBER,
  attempt: MAYBE_NUMBER,
  outcome: MAYBE_TEXT,
  status: MAYBE_NUMBER,
  durationMs: MAYBE_NUMBER,
  by: { ...MAYBE_TEXT, description: "Of a deed: who did it." },
  note: { ...MAYBE_TEXT, description: "Of a deed: the reason that was given." },
  operationId: { ...MAYBE_TEXT, description: "Of a deed: the operation that it was a part of." },
});

export const STORY: object = {
  $id: "Story",
  ...whole<Story>({
    foundBy: { type: "string", enum: ["event_id", "provider_id", "delivery_id"] },
    event: { $ref: "EventDetail#" },
    bodySha256: TEXT,
    repeats: { type: "array", items: REPEAT },
    deliveries: {
      type: "array",
      items: whole<StoryDelivery>({
        ...DELIVERY_FIELDS,
        tried: { type: "array", items: { $ref: "Attempt#" } },
        ends: { type: "array", items: END },
        sentence: { ...TEXT, description: "Why it stands as it stands." },
      }),
    },
    held: {
      anyOf: [{ $ref: "HeldEvent#" }, { type: "null" }],
      description: "Where it stands in the sequence of its key; null where its source holds nothing back.",
    },
    steps: { type: "array", items: STEP, description: "In the order of time; what is to come stands last." },
  }),
};

const WAITING = {
  type: "array",
  items: whole<WaitingDelivery>({
    id: TEXT,
    sequence: BIG,
    eventId: TEXT,
    type: TEXT,
    state: { type: "string", enum: ["waiting", "under_way", "retrying", "delivered", "dead", "cancelled"] },
    time: INSTANT,
    writtenAt: INSTANT,
    ageMs: { type: "number" },
  }),
} as const;

export const LANE_WAITING: object = {
  $id: "LaneWaiting",
  ...whole<LaneWaiting>({
    lane: { $ref: "Lane#" },
    sentence: { ...TEXT, description: "Why the lane stands as it stands." },
    before: { ...WAITING, description: "The last that are finished." },
    first: { ...WAITING, description: "From the head on." },
    last: { ...WAITING, description: "The newest; none that is in `first`." },
    between: { ...BIG, description: "How many stand between the two." },
  }),
};

export const FOUND: object = {
  $id: "Found",
  ...whole<Found>({
    kind: { type: "string", enum: ["event", "delivery", "lane", "endpoint", "source", "rejected"] },
    id: TEXT,
    tenant: MAYBE_TEXT,
    text: TEXT,
    foundBy: { type: "string", enum: ["id", "provider_id", "id_prefix"] },
  }),
};
