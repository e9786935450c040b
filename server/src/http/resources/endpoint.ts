import type { EndpointView } from "posthorn";
import type { CreatedEndpoint, Endpoint, EndpointInput, EndpointUpdate, TestSend } from "posthorn/client";
import type { EgressAnswer } from "posthorn/dispatch";
import type { FieldsOf } from "./text.js";
import { base64, MAYBE_NUMBER, MAYBE_TEXT, TEXTS, whole } from "./text.js";

const PATTERNS = {
  type: "array",
  minItems: 1,
  maxItems: 100,
  items: { type: "string", minLength: 1, maxLength: 255 },
} as const;

const RETRY = {
  type: "object",
  additionalProperties: false,
  properties: {
    kind: { type: "string", enum: ["exponential", "list"], description: "Follows from the others." },
    firstMs: { type: "number" },
    factor: { type: "number" },
    capMs: { type: "number" },
    maxAttempts: { type: "integer" },
    waitsMs: { type: "array", maxItems: 99, items: { type: "number" } },
    jitter: { type: "number" },
  },
} as const;

const INPUT = {
  url: { type: "string", minLength: 1, maxLength: 2048 },
  secrets: {
    type: "array",
    minItems: 1,
    maxItems: 8,
    items: { type: "string", maxLength: 255 },
    description: "`whsec_` secrets or `whsk_` keys; all of them sign. Never shown again.",
  },
  sources: { ...PATTERNS, description: "Patterns of sources: `*` stands for any text." },
  types: { ...PATTERNS, description: "Patterns of event types." },
  order: { type: "string", enum: ["key", "endpoint", "none"] },
  dead: { type: ["string", "null"], enum: ["halt", "skip", "park", null] },
  maxInFlight: { type: "integer", minimum: 1, maximum: 10_000 },
  retry: RETRY,
} as const satisfies FieldsOf<EndpointUpdate>;

export const ENDPOINT_INPUT: object = {
  $id: "EndpointInput",
  type: "object",
  required: ["url"],
  additionalProperties: false,
  properties: {
    id: { type: "string", pattern: "^[A-Za-z0-9_-]{1,64}$" },
    tenant: { type: "string", minLength: 1, maxLength: 255 },
    ...INPUT,
  } satisfies FieldsOf<EndpointInput>,
};

export const ENDPOINT_UPDATE: object = {
  $id: "EndpointUpdate",
  type: "object",
  minProperties: 1,
  additionalProperties: false,
  properties: INPUT,
};

const ENDPOINT_FIELDS = {
  id: { type: "string" },
  tenant: { type: "string" },
  url: { type: "string" },
  sources: TEXTS,
  types: TEXTS,
  order: INPUT.order,
  dead: INPUT.dead,
  maxInFlight: { type: "integer" },
  retry: RETRY,
  state: { type: "string", enum: ["active", "paused", "disabled"] },
  because: { ...MAYBE_TEXT, description: "Why it is disabled." },
  secretCount: { type: "integer" },
  version: { type: "integer" },
} as const;

export const ENDPOINT: object = { $id: "Endpoint", ...whole<Endpoint>(ENDPOINT_FIELDS) };

export const CREATED_ENDPOINT: object = {
  $id: "CreatedEndpoint",
  type: "object",
  required: Object.keys(ENDPOINT_FIELDS),
  properties: {
    ...ENDPOINT_FIELDS,
    secret: { type: "string", description: "The one that was made, where none was given. Shown this once." },
  } satisfies FieldsOf<CreatedEndpoint>,
};

export const TEST_SEND: object = {
  $id: "TestSend",
  ...whole<TestSend>({
    eventId: { type: "string" },
    outcome: { type: "string", enum: ["acknowledged", "refused", "unreachable", "unknown", "forbidden"] },
    status: MAYBE_NUMBER,
    error: MAYBE_TEXT,
    detail: MAYBE_TEXT,
    durationMs: { type: "number" },
    answer: { ...MAYBE_TEXT, description: "The first bytes of the answer, as base64." },
  }),
};

/** Field by field: a secret that is not named here cannot be shown by mistake. */
export function showEndpoint(endpoint: EndpointView): Endpoint {
  return {
    id: endpoint.id,
    tenant: endpoint.tenant,
    url: endpoint.url,
    sources: endpoint.sources,
    types: endpoint.types,
    order: endpoint.order,
    dead: endpoint.dead ?? null,
    maxInFlight: endpoint.maxInFlight,
    retry: endpoint.retry,
    state: endpoint.state,
    because: endpoint.because ?? null,
    secretCount: endpoint.secretCount,
    version: endpoint.version,
  };
}

export function showTestSend(
  eventId: string,
  { outcome, answer, durationMs, detail }: EgressAnswer,
): TestSend {
  return {
    eventId,
    outcome: outcome.kind,
    status: "status" in outcome ? outcome.status : null,
    error: "reason" in outcome ? outcome.reason : null,
    detail: detail ?? null,
    durationMs,
    answer: base64(answer),
  };
}
