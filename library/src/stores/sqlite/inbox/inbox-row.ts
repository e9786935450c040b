import type { InboxOutcome, InboxRow, KnownEvent } from "../../../inbox/inbox-store.js";
import { keptText } from "../../../inbox/arrival/kept-headers.js";
import { plainBytes } from "../client/client.js";

/** The columns of posthorn_inbox that say what is known of an event. */
export interface KnownColumns {
  readonly outcome: InboxOutcome;
  readonly body_hash: Uint8Array;
  readonly received_at: number;
}

/** All columns of posthorn_inbox. */
export interface InboxColumns extends KnownColumns {
  readonly tenant: string;
  readonly source: string;
  readonly event_id: string;
  readonly id_preview: string | null;
  readonly type: string;
  readonly event_at: number | null;
  readonly attempts: number;
  readonly receipts: number;
  readonly last_received_at: number;
  readonly keep_until: number | null;
  readonly result: string | null;
  readonly error: string | null;
  /** Null when the stored event that had them is gone. */
  readonly headers: string | null;
  readonly body: Uint8Array | null;
  readonly ordering_key: string | null;
}

export function knownOf({ outcome, body_hash, received_at }: KnownColumns): KnownEvent {
  return { outcome, bodyHash: plainBytes(body_hash), receivedAt: new Date(received_at) };
}

export function rowOf(columns: InboxColumns): InboxRow {
  return {
    ...knownOf(columns),
    tenant: columns.tenant,
    source: columns.source,
    id: columns.event_id,
    idPreview: columns.id_preview ?? undefined,
    type: columns.type,
    eventAt: instant(columns.event_at),
    body: columns.body === null ? undefined : plainBytes(columns.body),
    headers: columns.headers === null ? undefined : keptText(columns.headers),
    key: columns.ordering_key ?? undefined,
    lastReceivedAt: new Date(columns.last_received_at),
    keepUntil: instant(columns.keep_until),
    attempts: columns.attempts,
    receipts: columns.receipts,
    result: columns.result ?? undefined,
    error: columns.error ?? undefined,
  };
}

/** When a row may be removed; null = never. */
export function keepUntil(windowS: number | undefined, nowMs: number): number | null {
  return windowS === undefined ? null : nowMs + Math.ceil(windowS * 1000);
}

// Node 22's sqlite ends a text at its first NUL when it reads it, so the rest would seem never to have been there.
export function withoutNul(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", "\\u0000") : text;
}

function instant(ms: number | null): Date | undefined {
  return ms === null ? undefined : new Date(ms);
}
