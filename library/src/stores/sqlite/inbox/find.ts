import { reach } from "#faults";
import type { InboxKey, InboxRow, KnownEvent } from "../../../inbox/inbox-store.js";
import type { SqliteClient } from "../client/client.js";
import { knownOf, rowOf } from "./inbox-row.js";
import type { InboxColumns, KnownColumns } from "./inbox-row.js";

/** What is known of an event. */
export function findKnown(client: SqliteClient, key: InboxKey): KnownEvent | undefined {
  reach("find.before_read");
  const known = readKnown(client, key);
  reach("find.after_read");
  return known;
}

export function readKnown(client: SqliteClient, { tenant, source, id }: InboxKey): KnownEvent | undefined {
  const row = client.get(
    `select outcome, body_hash, received_at from posthorn_inbox
     where tenant = ? and source = ? and event_id = ? and consumer = ''`,
    tenant,
    source,
    id,
  ) as KnownColumns | undefined;
  return row && knownOf(row);
}

/** A whole row. */
export function findRow(client: SqliteClient, { tenant, source, id }: InboxKey): InboxRow | undefined {
  const row = client.get(
    `select tenant, source, event_id, id_preview, type, event_at, outcome, attempts, receipts, received_at,
       last_received_at, keep_until, result, error, headers, body_hash, body
     from posthorn_inbox where tenant = ? and source = ? and event_id = ? and consumer = ''`,
    tenant,
    source,
    id,
  ) as InboxColumns | undefined;
  return row && rowOf(row);
}
