import { reach } from "#faults";
import type { Arrival, RefusedBecause } from "../../../inbox/inbox-store.js";
import { arrivalValues } from "./accept.js";
import type { SqliteClient } from "../client/client.js";
import { withoutNul } from "./inbox-row.js";

/** Writes that the handler failed, with its attempt; a row that says `success` stays as it is. */
export function noteFailure(
  client: SqliteClient,
  arrival: Arrival,
  { error, nowMs }: { readonly error: string; readonly nowMs: number },
): void {
  const row = client.get(
    // Another process may have applied the event since our rollback: that must not become a failure. Without
    // `keep_until`, so that no purge removes an event that was never applied.
    `insert into posthorn_inbox
       (tenant, source, event_id, id_preview, type, event_at, outcome, attempts, receipts,
        received_at, last_received_at, headers, body_hash, body, error, ordering_key)
     values (?, ?, ?, ?, ?, ?, 'failed', 1, 1, ?, ?, ?, ?, ?, ?, ?)
     on conflict (tenant, source, event_id, consumer) do update set
       id_preview = excluded.id_preview, type = excluded.type, event_at = excluded.event_at,
       outcome = 'failed', keep_until = null, attempts = attempts + 1, receipts = receipts + 1, last_received_at = excluded.last_received_at,
       headers = excluded.headers, body_hash = excluded.body_hash, body = excluded.body, error = excluded.error,
       ordering_key = excluded.ordering_key
     where outcome in ('failed', 'skipped', 'pending') or keep_until <= excluded.last_received_at
     returning attempts, round`,
    ...arrivalValues(arrival, nowMs, { window: false }),
    withoutNul(error),
    arrival.key ?? null,
  ) as { attempts: number; round: number } | undefined;
  if (row === undefined) return;
  reach("fail.before_attempt");
  client.run(
    `insert into posthorn_inbox_attempt (tenant, source, event_id, round, attempt, failed_at, error)
     values (?, ?, ?, ?, ?, ?, ?)`,
    arrival.tenant,
    arrival.source,
    arrival.id,
    row.round,
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
        headers, body_hash, body, because, ordering_key, receipts)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
     on conflict (tenant, source, event_id, because, body_hash) do update set
       receipts = receipts + 1, last_refused_at = excluded.last_refused_at, keep_until = excluded.keep_until`,
    ...arrivalValues(arrival, nowMs),
    because,
    arrival.key ?? null,
  );
}
