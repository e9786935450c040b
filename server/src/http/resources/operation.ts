import type {
  AuditEntry,
  DeadGroup,
  DeadNote,
  Operation,
  OperationActor,
  OperationInput,
  OperationItem,
  OperationNext,
  OperationPlan,
  OperationRun,
  OperationWarning,
} from "posthorn/client";
import type { OperationRecord } from "../../store/operation.js";
import { INBOX_QUERY } from "./inbox.js";
import { BIG, INSTANT, instant, MAYBE_INSTANT, MAYBE_NUMBER, MAYBE_TEXT, whole } from "./text.js";

const PLAIN = { type: "string", minLength: 1, maxLength: 255 } as const;
const COUNT = { type: "integer", minimum: 0 } as const;
export const RATE = {
  type: "integer",
  minimum: 1,
  maximum: 10_000,
  description: "Items per second.",
} as const;
const NOTE = {
  type: "string",
  maxLength: 1000,
  description: "Why; kept with the operation and in the audit.",
} as const;

/** The filters of dead letters, for queries and bodies. */
export const DEAD_QUERY = {
  endpoint: PLAIN,
  because: PLAIN,
  status: {
    type: "string",
    pattern: "^(none|\\d{3})$",
    description: "By which it died; `none` for no answer.",
  },
  error: { ...PLAIN, description: "The class of the error by which it died; `none` for none." },
  key: { ...PLAIN, description: "Only together with `endpoint`." },
  tenant: PLAIN,
  since: { type: "string", minLength: 2, maxLength: 40, description: "ISO 8601, or an age such as `24h`." },
  until: { type: "string", minLength: 2, maxLength: 40, description: "ISO 8601, or an age such as `24h`." },
} as const;

const FILTER = {
  type: "object",
  additionalProperties: false,
  description: "Exactly one of these.",
  properties: {
    dead: { type: "object", additionalProperties: false, properties: DEAD_QUERY },
    deliveries: { type: "array", minItems: 1, maxItems: 1000, items: PLAIN },
    lanes: {
      type: "array",
      minItems: 1,
      maxItems: 100,
      items: {
        type: "object",
        additionalProperties: false,
        required: ["id", "head"],
        properties: { id: BIG, head: BIG },
      },
    },
    inbox: { type: "object", additionalProperties: false, properties: INBOX_QUERY },
  },
} as const;

const VERB = { type: "string", enum: ["redrive", "skip", "cancel", "replay"] } as const;
const STATES = ["planned", "running", "stopping", "stopped", "finished", "failed"] as const;
const ACTOR = whole<OperationActor>({
  token: { type: "string" },
  name: { type: "string" },
  via: { type: "string", enum: ["token", "session"] },
});
const MAYBE_ACTOR = { anyOf: [ACTOR, { type: "null" }] };
const MAYBE_LETTER = { anyOf: [{ $ref: "DeadLetter#" }, { type: "null" }] };

export const OPERATION_INPUT: object = {
  $id: "OperationInput",
  type: "object",
  additionalProperties: false,
  required: ["verb", "filter"],
  properties: {
    verb: VERB,
    filter: FILTER,
    dryRun: { type: "boolean", default: false, description: "Only plan it." },
    rate: RATE,
    note: NOTE,
  } satisfies Readonly<Record<keyof OperationInput, object>>,
};

export const OPERATION_RUN: object = {
  $id: "OperationRun",
  type: "object",
  additionalProperties: false,
  properties: { rate: RATE, note: NOTE } satisfies Readonly<Record<keyof OperationRun, object>>,
};

const PLAN = whole<OperationPlan>({
  words: { type: "string" },
  count: COUNT,
  more: { type: "boolean", description: "More match than one operation takes: it takes the oldest." },
  lanes: COUNT,
  waitingBehind: COUNT,
  endpoints: {
    type: "array",
    items: whole<OperationPlan["endpoints"][number]>({
      id: { type: "string" },
      count: COUNT,
      state: { type: "string", enum: ["active", "paused", "disabled"] },
    }),
  },
  oldest: MAYBE_LETTER,
  newest: MAYBE_LETTER,
  sample: { type: "array", items: { $ref: "DeadLetter#" } },
  next: {
    type: "array",
    description: "What is sent next, and where in its lane.",
    items: whole<OperationNext>({
      laneId: MAYBE_TEXT,
      endpointId: { type: "string" },
      key: MAYBE_TEXT,
      deliveryId: { type: "string" },
      place: { type: "string", enum: ["head", "end", "behind_gap"] },
      waiting: COUNT,
    }),
  },
  warnings: {
    type: "array",
    items: whole<OperationWarning>({
      code: { type: "string" },
      text: { type: "string" },
      count: MAYBE_NUMBER,
    }),
  },
});

export const OPERATION: object = {
  $id: "Operation",
  ...whole<Operation>({
    id: { type: "string", description: "Of a plan, what it is run by." },
    verb: VERB,
    filter: FILTER,
    state: { type: "string", enum: [...STATES] },
    plan: PLAN,
    rate: RATE,
    done: COUNT,
    results: {
      type: "object",
      additionalProperties: { type: "integer" },
      description: "How many items came to each result.",
    },
    message: { ...MAYBE_TEXT, description: "Why it failed." },
    by: ACTOR,
    stoppedBy: MAYBE_ACTOR,
    note: MAYBE_TEXT,
    node: { ...MAYBE_TEXT, description: "Which node works on it." },
    plannedAt: INSTANT,
    startedAt: MAYBE_INSTANT,
    endedAt: MAYBE_INSTANT,
  }),
};

export const OPERATION_ITEM: object = {
  $id: "OperationItem",
  ...whole<OperationItem>({
    number: { type: "integer" },
    deliveryId: MAYBE_TEXT,
    laneId: MAYBE_TEXT,
    round: MAYBE_NUMBER,
    eventId: MAYBE_TEXT,
    endpointId: MAYBE_TEXT,
    result: {
      type: "string",
      enum: [
        "pending",
        "in_place",
        "at_end",
        "before",
        "skipped",
        "intended",
        "cancelled",
        "staged",
        "not_applied",
        "not_stored",
        "no_worker",
        "unknown",
      ],
    },
    count: COUNT,
    at: MAYBE_INSTANT,
  }),
};

const DEAD_NOTE = whole<DeadNote>({ text: { type: "string" }, by: { type: "string" }, at: INSTANT });
export const MAYBE_NOTE: object = { anyOf: [DEAD_NOTE, { type: "null" }] };

export const DEAD_GROUP: object = {
  $id: "DeadGroup",
  ...whole<DeadGroup>({
    id: { type: "string" },
    tenant: { type: "string" },
    endpointId: { type: "string" },
    because: { type: "string" },
    status: MAYBE_NUMBER,
    error: MAYBE_TEXT,
    count: COUNT,
    firstAt: INSTANT,
    lastAt: INSTANT,
    note: MAYBE_NOTE,
  }),
};

const MAYBE_OBJECT = { type: ["object", "null"], additionalProperties: true } as const;

export const AUDIT_ENTRY: object = {
  $id: "AuditEntry",
  ...whole<AuditEntry>({
    id: { type: "string" },
    at: INSTANT,
    by: ACTOR,
    action: { type: "string", description: "As `endpoint.update`." },
    subject: {
      type: "object",
      required: ["kind", "id"],
      properties: { kind: { type: "string" }, id: MAYBE_TEXT },
    },
    before: { ...MAYBE_OBJECT, description: "As the API shows it, without secrets." },
    after: MAYBE_OBJECT,
    note: MAYBE_TEXT,
    status: { ...MAYBE_NUMBER, description: "Of the answer; null where the process ended before it knew." },
    requestId: { type: "string" },
  }),
};

export function showOperation(record: OperationRecord): Operation {
  const { upTo: _upTo, targets: _targets, ...plan } = record.plan;
  return {
    id: record.id,
    verb: record.verb,
    filter: record.filter,
    state: record.state,
    plan,
    rate: record.rate,
    done: record.done,
    results: record.results,
    message: record.message ?? null,
    by: record.runBy ?? record.plannedBy,
    stoppedBy: record.stoppedBy ?? null,
    note: record.note ?? null,
    node: record.node ?? null,
    plannedAt: record.plannedAt.toISOString(),
    startedAt: instant(record.startedAt),
    endedAt: instant(record.endedAt),
  };
}
