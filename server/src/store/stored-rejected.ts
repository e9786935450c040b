import type { RejectedRecord } from "./rejected-request.js";

/** The columns of a rejected request, except its body and time. */
export interface StoredRejected {
  readonly id: string;
  readonly source: string;
  readonly method: string;
  /** As JSON. */
  readonly headers: string;
  readonly bodyBytes: number;
  readonly code: string;
  readonly message: string;
  /** As JSON. */
  readonly diagnosis: string;
}

export function storedRejected(request: RejectedRecord): StoredRejected {
  const { id, source, method, headers, bodyBytes, code, message, diagnosis } = request;
  return {
    id,
    source,
    method: storable(method),
    headers: JSON.stringify(headers),
    bodyBytes,
    code,
    message: storable(message),
    diagnosis: JSON.stringify(diagnosis),
  };
}

export function rejectedOf(stored: StoredRejected, receivedMs: number, body: Uint8Array): RejectedRecord {
  return Object.freeze({
    ...stored,
    headers: JSON.parse(stored.headers) as Record<string, string>,
    diagnosis: JSON.parse(stored.diagnosis) as string[],
    receivedAt: new Date(receivedMs),
    body,
  });
}

// Postgres refuses NUL, and one request that cannot be written would cost its whole batch.
function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}
