import type { SecretSeal } from "posthorn";
import type { RejectedRecord, WholeRequest } from "./rejected-request.js";

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
  /** As sealed JSON. */
  readonly sealed: string | null;
}

export function storedRejected(request: RejectedRecord, seal: SecretSeal): StoredRejected {
  const { id, source, method, headers, bodyBytes, code, message, diagnosis, whole } = request;
  return {
    id,
    source,
    method: storable(method),
    headers: JSON.stringify(headers),
    bodyBytes,
    code,
    message: storable(message),
    diagnosis: JSON.stringify(diagnosis),
    sealed: whole === undefined ? null : seal.seal(JSON.stringify(whole)),
  };
}

/** What is left for the caller to read: its time, its body, and who opens what is sealed. */
export interface RejectedRest {
  readonly receivedMs: number;
  readonly body: Uint8Array;
  readonly seal: SecretSeal;
}

export function rejectedOf(
  { sealed, ...stored }: StoredRejected,
  { receivedMs, body, seal }: RejectedRest,
): RejectedRecord {
  return Object.freeze({
    ...stored,
    headers: JSON.parse(stored.headers) as Record<string, string>,
    diagnosis: JSON.parse(stored.diagnosis) as string[],
    receivedAt: new Date(receivedMs),
    body,
    whole: sealed === null ? undefined : opened(sealed, seal),
  });
}

/** Undefined under another master key: it can be looked at all the same. */
function opened(sealed: string, seal: SecretSeal): WholeRequest | undefined {
  try {
    return JSON.parse(seal.open(sealed)) as WholeRequest;
  } catch {
    return undefined;
  }
}

// Postgres refuses NUL, and one request that cannot be written would cost its whole batch.
function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}
