import type { RejectedRequest } from "posthorn/client";
import type { RejectedRecord } from "../../store/rejected-request.js";
import { INSTANT, TEXTS, whole } from "./text.js";

export const REJECTED_REQUEST: object = {
  $id: "RejectedRequest",
  ...whole<RejectedRequest>({
    id: { type: "string" },
    source: { type: "string" },
    receivedAt: INSTANT,
    method: { type: "string" },
    headers: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Without credentials.",
    },
    bodyBytes: { type: "integer", description: "Of the whole body; its first bytes are kept." },
    code: { type: "string" },
    message: { type: "string" },
    retryable: {
      type: ["boolean", "null"],
      description: "Whether it was kept whole, so that it can be taken in again; null in lists.",
    },
    diagnosis: { ...TEXTS, description: "What forensics found, one sentence each." },
  }),
};

/** Of a list, nothing that is sealed is read. */
export function showListedRejected(request: RejectedRecord): RejectedRequest {
  return { ...showRejected(request), retryable: null };
}

export function showRejected(request: RejectedRecord): RejectedRequest {
  return {
    id: request.id,
    source: request.source,
    receivedAt: request.receivedAt.toISOString(),
    method: request.method,
    headers: request.headers,
    bodyBytes: request.bodyBytes,
    code: request.code,
    message: request.message,
    retryable: request.whole !== undefined,
    diagnosis: request.diagnosis,
  };
}
