import type { RepeatRecord } from "../../../../operator/view-store.js";
import type { SqliteClient } from "../../client/client.js";
import { plainBytes } from "../../client/client.js";
import { withoutNul } from "../../inbox/inbox-row.js";
import type { OutboxTurn } from "../../outbox/turn.js";

interface RepeatColumns {
  readonly kind: RepeatRecord["kind"];
  readonly receipts: bigint;
  readonly received_at: bigint;
  readonly last_received_at: bigint;
  readonly headers: string;
  readonly body_hash: Uint8Array;
  readonly body: Uint8Array | null;
}

// A sender may send as many bodies as it likes; a page shows the first of them.
const MOST_SHOWN = 100;

/** The duplicates and conflicts of an event, oldest first. */
export function readRepeats(client: SqliteClient, tenant: string, eventId: string): readonly RepeatRecord[] {
  const rows = client.allWide(
    `select kind, receipts, received_at, last_received_at, headers, body_hash, body from posthorn_ingest_repeat
     where tenant = ? and event_id = ? order by received_at, id limit +?`,
    withoutNul(tenant),
    eventId,
    MOST_SHOWN,
  ) as RepeatColumns[];
  return rows.map((row) => ({
    kind: row.kind,
    receipts: Number(row.receipts),
    firstAt: new Date(Number(row.received_at)),
    lastAt: new Date(Number(row.last_received_at)),
    headers: JSON.parse(row.headers) as Record<string, string>,
    bodyHash: plainBytes(row.body_hash),
    body: row.body === null ? undefined : plainBytes(row.body),
  }));
}

/** The ids of the events that came under these names. */
export function readNamedEvents(
  { client, nowMs }: OutboxTurn,
  tenant: string,
  names: readonly string[],
): readonly string[] {
  const rows = client.allWide(
    `select distinct n.event_id from json_each(?) g cross join posthorn_ingest_name n
     on n.tenant = ? and n.name = g.value where n.keep_until is null or n.keep_until > ?`,
    JSON.stringify(names.map((name) => withoutNul(name))),
    withoutNul(tenant),
    nowMs,
  ) as { event_id: string }[];
  return rows.map(({ event_id }) => event_id);
}
