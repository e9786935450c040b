import { reach } from "#faults";
import type { InboxKey, InboxRow, KnownEvent } from "../../../inbox/inbox-store.js";
import type { SqliteClient } from "../client/client.js";
import { knownOf, rowOf } from "./inbox-row.js";
import type { InboxColumns, KnownColumns } from "./inbox-row.js";

/** What is known of an event; nothing where its window has passed, whether or not a purge has removed its row. */
export function findKnown(client: SqliteClient, key: InboxKey, nowMs: number): KnownEvent | undefined {
  reach("find.before_read");
  const known = readKnown(client, key, nowMs);
  reach("find.after_read");
  return known;
}

export function readKnown(
  client: SqliteClient,
  { tenant, source, id }: InboxKey,
  nowMs: number,
): KnownEvent | undefined {
  const row = client.get(
    `select outcome, body_hash, received_at from posthorn_inbox
     where tenant = ? and source = ? and event_id = ? and consumer = '' and (keep_until is null or keep_until > ?)`,
    tenant,
    source,
    id,
    nowMs,
  ) as KnownColumns | undefined;
  return row && knownOf(row);
}

/** A whole row. */
export function findRow(client: SqliteClient, { tenant, source, id }: InboxKey): InboxRow | undefined {
  const row = client.get(
    `select i.tenant, i.source, i.event_id, i.id_preview, i.type, i.event_at, i.outcome, i.attempts, i.receipts,
       i.received_at, i.last_received_at, i.keep_until, i.result, i.error, i.body_hash, i.ordering_key,
       coalesce(i.headers, e.headers) as headers, coalesce(i.body, e.body) as body
     from posthorn_inbox i left join posthorn_event e on i.body is null and e.id = (
       select max(id) from posthorn_event where public_id = i.stored_as and tenant = i.tenant)
     where i.tenant = ? and i.source = ? and i.event_id = ? and i.consumer = ''`,
    tenant,
    source,
    id,
  ) as InboxColumns | undefined;
  return row && rowOf(row);
}
