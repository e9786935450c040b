import { decodeHex, encodeHex } from "../../../../bytes.js";
import { keyCursorOf, keyOfCursor } from "../../../../operator/inbox-cursor.js";
import type { RefusedFilter, RefusedRecord } from "../../../../operator/inbox-view-store.js";
import type { Page, Paged } from "../../../../operator/operator-store.js";
import { plainBytes } from "../../client/client.js";
import type { SqliteClient, SqliteValue } from "../../client/client.js";

interface RefusedColumns {
  readonly tenant: string;
  readonly source: string;
  readonly event_id: string;
  readonly id_preview: string | null;
  readonly because: RefusedRecord["because"];
  readonly type: string;
  readonly event_at: number | null;
  readonly receipts: number;
  readonly refused_at: number;
  readonly last_refused_at: number;
  readonly headers: string;
  readonly body_hash: Uint8Array;
  readonly body: Uint8Array;
  readonly ordering_key: string | null;
}

/** What was refused for good, in the order of its key. */
export function findRefused(
  client: SqliteClient,
  { tenant, source, id, because }: RefusedFilter,
  { limit, after }: Page,
): Paged<RefusedRecord> {
  const from = keyOfCursor(after, 5);
  const wanted = Object.entries({ tenant, source, event_id: id, because }).filter(
    ([, value]) => value !== undefined,
  );
  const conditions = wanted.map(([name]) => `${name} = ?`);
  const values: SqliteValue[] = wanted.map(([, value]) => value ?? null);
  if (from !== undefined) {
    const [hash = ""] = from.slice(4);
    conditions.push("(tenant, source, event_id, because, body_hash) > (?, ?, ?, ?, ?)");
    values.push(...from.slice(0, 4), decodeHex(hash) ?? new Uint8Array());
  }
  const rows = client.all(
    `select tenant, source, event_id, id_preview, because, type, event_at, receipts, refused_at, last_refused_at, headers,
       body_hash, body, ordering_key
     from posthorn_inbox_refused ${conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`}
     order by tenant, source, event_id, because, body_hash limit +?`,
    ...values,
    limit + 1,
  ) as RefusedColumns[];
  const items = rows.slice(0, limit).map(refusedOf);
  const last = rows.length > limit ? items.at(-1) : undefined;
  return {
    items,
    next: last && keyCursorOf([last.tenant, last.source, last.id, last.because, encodeHex(last.bodyHash)]),
  };
}

function refusedOf(row: RefusedColumns): RefusedRecord {
  return {
    tenant: row.tenant,
    source: row.source,
    id: row.event_id,
    idPreview: row.id_preview ?? undefined,
    because: row.because,
    type: row.type,
    eventAt: row.event_at === null ? undefined : new Date(row.event_at),
    key: row.ordering_key ?? undefined,
    receipts: row.receipts,
    refusedAt: new Date(row.refused_at),
    lastRefusedAt: new Date(row.last_refused_at),
    headers: JSON.parse(row.headers) as Record<string, string>,
    bodyHash: plainBytes(row.body_hash),
    body: plainBytes(row.body),
  };
}
