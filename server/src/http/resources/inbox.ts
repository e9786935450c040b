import type { Consumer, InboxEvent, InboxFailure, InboxRow, RefusedEvent } from "posthorn/client";
import { handlerId } from "posthorn/gateway";
import { WORKER_GONE_MS } from "posthorn/operator";
import type {
  AttemptRecord,
  ConsumerStanding,
  InboxFailure as FailureRecord,
  InboxRecord,
  RefusedRecord,
} from "posthorn/operator";
import { PLAIN_TEXT } from "../route-schema.js";
import { SINCE } from "../time-range.js";
import { INSTANT, instant, MAYBE_INSTANT, MAYBE_NUMBER, MAYBE_TEXT, TEXTS, whole } from "./text.js";

const TEXT = { type: "string" } as const;
const COUNT = { type: "integer" } as const;

/** The outcomes of a row of the inbox. */
export const OUTCOMES = ["success", "skipped", "failed", "pending", "held", "dead", "dropped"] as const;

/** What a list of rows, and an operation on them, is filtered by. */
export const INBOX_QUERY = {
  tenant: PLAIN_TEXT,
  source: PLAIN_TEXT,
  consumer: { ...PLAIN_TEXT, description: "`hnd_…`, or its name." },
  outcome: { type: "string", enum: OUTCOMES },
  type: PLAIN_TEXT,
  since: { ...SINCE, description: `First received at this time or later. ${SINCE.description}` },
  until: SINCE,
} as const;

export const INBOX_ROW: object = {
  $id: "InboxRow",
  ...whole<InboxRow>({
    id: { ...TEXT, description: "`source/event`: with its tenant and its consumer it names the row." },
    tenant: TEXT,
    source: TEXT,
    eventId: { ...TEXT, description: "The provider's id, as it is stored." },
    idPreview: { ...MAYBE_TEXT, description: "The beginning of an id that is kept as a hash." },
    consumerId: { ...TEXT, description: "`hnd_default` for handlers that have no name." },
    type: TEXT,
    outcome: { ...TEXT, enum: OUTCOMES },
    round: { ...COUNT, description: "1, and one more with each replay." },
    attempts: COUNT,
    receipts: COUNT,
    eventAt: { ...MAYBE_INSTANT, description: "When it happened, by the provider's word." },
    receivedAt: INSTANT,
    lastReceivedAt: INSTANT,
    keepUntil: { ...MAYBE_INSTANT, description: "Null: for ever, or until it is applied." },
    storedAs: {
      ...MAYBE_TEXT,
      description: "The stored event; null where it was handled within its request.",
    },
    result: { ...MAYBE_TEXT, description: "What the handler returned, as JSON text." },
    error: MAYBE_TEXT,
    bodyBytes: COUNT,
  }),
};

export const REFUSED_EVENT: object = {
  $id: "RefusedEvent",
  ...whole<RefusedEvent>({
    id: TEXT,
    tenant: TEXT,
    source: TEXT,
    eventId: TEXT,
    because: { ...TEXT, enum: ["conflict", "stale"] },
    type: TEXT,
    eventAt: MAYBE_INSTANT,
    receipts: COUNT,
    refusedAt: INSTANT,
    lastRefusedAt: INSTANT,
    bodyHash: { ...TEXT, description: "SHA-256: one event may be refused with several bodies." },
    bodyBytes: COUNT,
  }),
};

const FAILURE = whole<InboxFailure>({
  consumerId: TEXT,
  deliveryId: { ...MAYBE_TEXT, description: "Null where the handler ran within its request." },
  round: COUNT,
  attempt: COUNT,
  at: INSTANT,
  outcome: { ...TEXT, enum: ["failed", "lapsed"] },
  error: MAYBE_TEXT,
  fingerprint: { ...MAYBE_TEXT, description: "Failures of one cause have the same." },
});

export const INBOX_EVENT: object = {
  $id: "InboxEvent",
  ...whole<InboxEvent>({
    id: TEXT,
    tenant: TEXT,
    source: TEXT,
    eventId: TEXT,
    rows: { type: "array", items: { $ref: "InboxRow#" } },
    failures: { type: "array", items: FAILURE },
    deliveries: { type: "array", items: { $ref: "Delivery#" } },
    refused: { type: "array", items: { $ref: "RefusedEvent#" } },
    held: { type: "array", items: { $ref: "HeldEvent#" } },
  }),
};

export const CONSUMER: object = {
  $id: "Consumer",
  ...whole<Consumer>({
    id: TEXT,
    sources: TEXTS,
    order: { ...TEXT, enum: ["key", "none"] },
    versions: {
      type: "array",
      description: "What versions of the host have said in the last hour that they handle, the newest first.",
      items: whole<Consumer["versions"][number]>({ sources: TEXTS, types: TEXTS, at: INSTANT }),
    },
    state: { ...TEXT, enum: ["active", "paused", "disabled"] },
    because: MAYBE_TEXT,
    pausedUntil: { ...MAYBE_INSTANT, description: "Null: until somebody resumes it." },
    pausedBy: { ...MAYBE_TEXT, description: "The person; null where a rule for errors has paused it." },
    seenAt: { ...MAYBE_INSTANT, description: "When a worker that has it last said so: every minute." },
    hasWorker: { type: "boolean", description: "Whether one has within three minutes." },
    waiting: COUNT,
    haltedLanes: COUNT,
    parkedLanes: COUNT,
    retryingLanes: COUNT,
    oldestMs: MAYBE_NUMBER,
    exact: { type: "boolean", description: "False where more waits than was counted." },
    dead: COUNT,
  }),
};

export function showInboxRow(row: InboxRecord): InboxRow {
  const { tenant, source, id, idPreview, consumer, type, outcome, round, attempts, receipts, bodyBytes } =
    row;
  return {
    id: `${source}/${id}`,
    tenant,
    source,
    eventId: id,
    idPreview: idPreview ?? null,
    consumerId: handlerId(consumer),
    type,
    outcome,
    round,
    attempts,
    receipts,
    eventAt: instant(row.eventAt),
    receivedAt: row.receivedAt.toISOString(),
    lastReceivedAt: row.lastReceivedAt.toISOString(),
    keepUntil: instant(row.keepUntil),
    storedAs: row.storedAs ?? null,
    result: row.result ?? null,
    error: row.error ?? null,
    bodyBytes,
  };
}

export function showRefused(refused: RefusedRecord): RefusedEvent {
  const { tenant, source, id, because, type, receipts, bodyHash, body } = refused;
  return {
    id: `${source}/${id}`,
    tenant,
    source,
    eventId: id,
    because,
    type,
    eventAt: instant(refused.eventAt),
    receipts,
    refusedAt: refused.refusedAt.toISOString(),
    lastRefusedAt: refused.lastRefusedAt.toISOString(),
    bodyHash: Buffer.from(bodyHash).toString("hex"),
    bodyBytes: body.length,
  };
}

export function showFailure(failure: FailureRecord, consumerId: string): InboxFailure {
  const { round, attempt, failedAt, error, fingerprint = null } = failure;
  const at = failedAt.toISOString();
  return { consumerId, deliveryId: null, round, attempt, at, outcome: "failed", error, fingerprint };
}

/** An attempt of a worker, where it did not succeed. */
export function showFailedAttempt(
  attempt: AttemptRecord,
  { consumerId, deliveryId }: Pick<InboxFailure, "consumerId" | "deliveryId">,
): readonly InboxFailure[] {
  const { outcome, round, number, startedAt, error = null, details } = attempt;
  if (outcome !== "failed" && outcome !== "lapsed") return [];
  const at = startedAt.toISOString();
  const fingerprint = details?.fingerprint ?? null;
  return [{ consumerId, deliveryId, round, attempt: number, at, outcome, error, fingerprint }];
}

export function showConsumer(consumer: ConsumerStanding, nowMs: number): Consumer {
  const { id, sources, order, versions, state, because, seenAt, oldestMs, exact } = consumer;
  const { waiting, haltedLanes, parkedLanes, retryingLanes, dead } = consumer;
  return {
    id,
    sources,
    order,
    versions: versions.map(({ sources: named, types, at }) => ({
      sources: named,
      types,
      at: at.toISOString(),
    })),
    state,
    because: because ?? null,
    pausedUntil: instant(consumer.pausedUntil),
    pausedBy: consumer.pausedBy ?? null,
    seenAt: instant(seenAt),
    hasWorker: hasWorker(consumer, nowMs),
    waiting,
    haltedLanes,
    parkedLanes,
    retryingLanes,
    oldestMs: oldestMs === undefined ? null : Math.round(oldestMs),
    exact,
    dead,
  };
}

/** Whether a worker has said lately that it has this handler. */
export function hasWorker({ seenAt }: Pick<ConsumerStanding, "seenAt">, nowMs: number): boolean {
  return seenAt !== undefined && nowMs - seenAt.getTime() < WORKER_GONE_MS;
}
