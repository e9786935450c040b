import { reach } from "#faults";
import type { Arrival, InboxKey, InboxRow, KnownEvent, RefusedBecause } from "../../../inbox/inbox-store.js";
import { arrivalValues } from "./accept.js";
import type { SqliteClient } from "../client/client.js";
import { keepUntil, knownOf, rowOf, withoutNul } from "./inbox-row.js";
import type { InboxColumns, KnownColumns } from "./inbox-row.js";
import type { Touch } from "../../../inbox/touches.js";

/** What is known of an event. */
export function findKnown(client: SqliteClient, { tenant, source, id }: InboxKey): KnownEvent | undefined {
  reach("find.before_read");
  const row = client.get(
    `select outcome, body_hash, received_at from posthorn_inbox where tenant = ? and source = ? and event_id = ?`,
    tenant,
    source,
    id,
  ) as KnownColumns | undefined;
  reach("find.after_read");
  return row && knownOf(row);
}

/** A whole row. */
export function findRow(client: SqliteClient, { tenant, source, id }: InboxKey): InboxRow | undefined {
  const row = client.get(
    `select tenant, source, event_id, id_preview, type, event_at, outcome, attempts, receipts, received_at,
       last_received_at, keep_until, result, error, headers, body_hash, body
     from posthorn_inbox where tenant = ? and source = ? and event_id = ?`,
    tenant,
    source,
    id,
  ) as InboxColumns | undefined;
  return row && rowOf(row);
}

/** Writes that the handler failed, with its attempt; a row of another outcome stays as it is. */
export function noteFailure(
  client: SqliteClient,
  arrival: Arrival,
  { error, nowMs }: { readonly error: string; readonly nowMs: number },
): void {
  const row = client.get(
    // Another process may have applied the event since our rollback: that must not become a failure.
    `insert into posthorn_inbox
       (tenant, source, event_id, id_preview, type, event_at, outcome, attempts, receipts,
        received_at, last_received_at, keep_until, headers, body_hash, body, error)
     values (?, ?, ?, ?, ?, ?, 'failed', 1, 1, ?, ?, ?, ?, ?, ?, ?)
     on conflict (tenant, source, event_id) do update set
       id_preview = excluded.id_preview, type = excluded.type, event_at = excluded.event_at,
       attempts = attempts + 1, receipts = receipts + 1, last_received_at = excluded.last_received_at,
       keep_until = excluded.keep_until, headers = excluded.headers, body_hash = excluded.body_hash,
       body = excluded.body, error = excluded.error
     where outcome = 'failed'
     returning attempts`,
    ...arrivalValues(arrival, nowMs),
    withoutNul(error),
  ) as { attempts: number } | undefined;
  if (row === undefined) return;
  reach("fail.before_attempt");
  client.run(
    `insert into posthorn_inbox_attempt (tenant, source, event_id, attempt, failed_at, error) values (?, ?, ?, ?, ?, ?)`,
    arrival.tenant,
    arrival.source,
    arrival.id,
    row.attempts,
    nowMs,
    withoutNul(error),
  );
}

/** Writes a conflict or a stale event, apart from the inbox. */
export function noteRefusal(
  client: SqliteClient,
  arrival: Arrival,
  { because, nowMs }: { readonly because: RefusedBecause; readonly nowMs: number },
): void {
  client.run(
    // One row per body: a sender that repeats a conflict for ever must not fill the disk with it.
    `insert into posthorn_inbox_refused
       (tenant, source, event_id, id_preview, type, event_at, refused_at, last_refused_at, keep_until,
        headers, body_hash, body, because, receipts)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
     on conflict (tenant, source, event_id, because, body_hash) do update set
       receipts = receipts + 1, last_refused_at = excluded.last_refused_at, keep_until = excluded.keep_until`,
    ...arrivalValues(arrival, nowMs),
    because,
  );
}

/** Starts the window of a duplicate's event again, and counts its receipt unless one was counted within the minute. */
export function noteTouch(client: SqliteClient, { tenant, source, id, windowS, atMs }: Touch): void {
  const aMinuteBefore = atMs - 60_000;
  client.run(
    // `max`, because this may be written after a later receipt was. A row that failed had no duplicate.
    `update posthorn_inbox set
       receipts = iif(last_received_at <= ?, receipts + 1, receipts),
       last_received_at = iif(last_received_at <= ?, ?, last_received_at),
       keep_until = max(keep_until, ?)
     where tenant = ? and source = ? and event_id = ? and outcome <> 'failed'`,
    aMinuteBefore,
    aMinuteBefore,
    atMs,
    keepUntil(windowS, atMs),
    tenant,
    source,
    id,
  );
}
