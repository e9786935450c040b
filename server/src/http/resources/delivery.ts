import type { Attempt, AttemptSent, Delivery } from "posthorn/client";
import type { AttemptRecord, DeliverySummary, Plain } from "posthorn/operator";
import {
  base64,
  INSTANT,
  instant,
  MAYBE_BIG,
  MAYBE_INSTANT,
  MAYBE_NUMBER,
  MAYBE_TEXT,
  whole,
} from "./text.js";
import type { FieldsOf } from "./text.js";

export const DELIVERY_FIELDS: FieldsOf<Delivery> = {
  id: { type: "string" },
  eventId: { type: "string" },
  endpointId: { type: "string" },
  tenant: { type: "string" },
  type: { type: "string" },
  laneId: MAYBE_BIG,
  key: MAYBE_TEXT,
  sequence: MAYBE_BIG,
  round: { type: "integer", description: "1, and one more with each redrive." },
  state: { type: "string", enum: ["waiting", "under_way", "retrying", "delivered", "dead", "cancelled"] },
  because: { ...MAYBE_TEXT, description: "Why it is dead or cancelled." },
  attempts: { type: "integer", description: "Of this round." },
  lastStatus: MAYBE_NUMBER,
  lastError: MAYBE_TEXT,
  lastAttemptAt: MAYBE_INSTANT,
  dueInMs: { ...MAYBE_NUMBER, description: "Until its next attempt; null when none is planned." },
};

export const DELIVERY: object = { $id: "Delivery", ...whole<Delivery>(DELIVERY_FIELDS) };

export const ATTEMPT: object = {
  $id: "Attempt",
  ...whole<Attempt>({
    round: { type: "integer" },
    number: { type: "integer" },
    startedAt: INSTANT,
    durationMs: { type: "number" },
    outcome: {
      type: "string",
      enum: [
        "acknowledged",
        "refused",
        "unreachable",
        "unknown",
        "forbidden",
        "lapsed",
        "failed",
        "postponed",
      ],
    },
    status: MAYBE_NUMBER,
    error: MAYBE_TEXT,
    answer: { ...MAYBE_TEXT, description: "The first bytes of the answer, as base64." },
    sent: {
      ...whole<AttemptSent>({
        url: { type: "string" },
        address: {
          ...MAYBE_TEXT,
          description: "The address that was reached; null where no connection stood.",
        },
        headers: {
          type: ["object", "null"],
          additionalProperties: { type: "string" },
          description: "Without what could be used again; kept of attempts that were not acknowledged.",
        },
        timings: {
          type: "object",
          additionalProperties: { type: "number" },
          description: "By step: dnsMs, connectMs, tlsMs, firstByteMs, totalMs.",
        },
        fingerprint: { ...MAYBE_TEXT, description: "Failures of one cause have the same." },
      }),
      type: ["object", "null"],
      description: "Where it went and how it got there; null where nobody knows, and of handlers.",
    },
  }),
};

export function showDelivery(delivery: DeliverySummary | Plain<DeliverySummary>): Delivery {
  return {
    id: delivery.id,
    eventId: delivery.eventId,
    endpointId: delivery.endpointId,
    tenant: delivery.tenant,
    type: delivery.type,
    laneId: delivery.laneId?.toString() ?? null,
    key: delivery.key ?? null,
    sequence: delivery.sequence?.toString() ?? null,
    round: delivery.round,
    state: delivery.state,
    because: delivery.because ?? null,
    attempts: delivery.attempts,
    lastStatus: delivery.lastStatus ?? null,
    lastError: delivery.lastError ?? null,
    lastAttemptAt: instant(delivery.lastAttemptAt),
    dueInMs: delivery.dueInMs ?? null,
  };
}

export function showAttempt(attempt: AttemptRecord | Plain<AttemptRecord>): Attempt {
  return {
    round: attempt.round,
    number: attempt.number,
    startedAt: attempt.startedAt.toISOString(),
    durationMs: attempt.durationMs,
    outcome: attempt.outcome,
    status: attempt.status ?? null,
    error: attempt.error ?? null,
    answer: base64(attempt.answer),
    sent: sentOf(attempt),
  };
}

/** An attempt of a handler has a fingerprint, and went nowhere. */
function sentOf({ details }: Pick<AttemptRecord, "details">): AttemptSent | null {
  if (details === undefined || details.url === "") return null;
  const { url, address, requestHeaders, timings, fingerprint } = details;
  return {
    url,
    address: address ?? null,
    headers: requestHeaders ?? null,
    timings: Object.fromEntries(Object.entries(timings ?? {}).filter(([, ms]) => ms !== undefined)),
    fingerprint: fingerprint ?? null,
  };
}
