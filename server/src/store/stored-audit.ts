import type { AuditEntry } from "posthorn/client";

/** An entry as both databases keep it. */
export interface StoredAudit {
  readonly id: string;
  readonly ms: string | number;
  readonly token_id: string;
  readonly token_name: string;
  readonly via: "token" | "session";
  readonly action: string;
  readonly kind: string;
  readonly subject: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly note: string | null;
  readonly status: string | number | null;
  readonly request_id: string;
}

export function entryOf(row: StoredAudit): AuditEntry {
  return {
    id: row.id,
    at: new Date(Number(row.ms)).toISOString(),
    by: { token: row.token_id, name: row.token_name, via: row.via },
    action: row.action,
    subject: { kind: row.kind, id: row.subject },
    before: objectOf(row.before),
    after: objectOf(row.after),
    note: row.note,
    status: row.status === null ? null : Number(row.status),
    requestId: row.request_id,
  };
}

function objectOf(text: string | null): AuditEntry["before"] {
  return text === null ? null : (JSON.parse(text) as Record<string, unknown>);
}
