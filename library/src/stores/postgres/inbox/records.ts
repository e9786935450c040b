import type { Arrival, RefusedBecause } from "../../../inbox/inbox-store.js";
import type { Pool } from "../client/database.js";
import { withoutNul } from "../client/identifiers.js";
import type { Tables } from "../schema/tables.js";
import { ARRIVAL, arrivalParams, tryLock } from "./inbox-row.js";

/** Where a record is written, and the acquire timeout. */
export interface RecordParts {
  readonly tables: Tables;
  readonly acquireMs: number;
}

/** Records a failed attempt with the row that says so; false when another delivery holds the event. */
export async function recordFailure(
  pool: Pool<unknown>,
  { arrival, error }: { readonly arrival: Arrival; readonly error: string },
  { tables, acquireMs }: RecordParts,
): Promise<boolean> {
  const { rows } = await pool.query(
    {
      // A row that is applied stays as it is. Without the lock, this would wait for the handler of another delivery; without a time in keep_until, a purge leaves the row alone.
      text: `
        with locked as materialized (
          select ${tryLock(tables)} as got
        ), written as (
          insert into ${tables.inbox} as known (tenant, source, event_id, id_preview, type, event_at, outcome, attempts,
            receipts, received_at, last_received_at, keep_until, error, headers, body_hash, body, ordering_key)
          select tenant, source, event_id, id_preview, type, event_at, 'failed', 1,
            1, at, at, null, $11::text, headers, body_hash, body, $12::text
          from (${ARRIVAL}) as arrival where (select got from locked)
          on conflict (tenant, source, event_id, consumer) do update set
            id_preview = excluded.id_preview, type = excluded.type, event_at = excluded.event_at,
            outcome = 'failed', keep_until = null, attempts = known.attempts + 1, receipts = known.receipts + 1,
            last_received_at = excluded.last_received_at,
            error = excluded.error, headers = excluded.headers, body_hash = excluded.body_hash, body = excluded.body,
            ordering_key = excluded.ordering_key
            where known.outcome in ('failed', 'skipped', 'pending') or known.keep_until <= excluded.last_received_at
          returning tenant, source, event_id, consumer, round, attempts, last_received_at, error
        ), attempt as (
          insert into ${tables.inboxAttempt} (tenant, source, event_id, consumer, round, attempt, failed_at, error)
          select tenant, source, event_id, consumer, round, attempts, last_received_at, error from written
          on conflict (tenant, source, event_id, consumer, round, attempt) do nothing
        )
        select got::text as got from locked`,
      params: [...arrivalParams(arrival), withoutNul(error), arrival.key ?? null],
    },
    acquireMs,
  );
  return rows[0]?.[0] === "true";
}

/** Records an event that was refused for good, apart from the inbox; repeats are counted. */
export async function recordRefusal(
  pool: Pool<unknown>,
  { arrival, because }: { readonly arrival: Arrival; readonly because: RefusedBecause },
  { tables, acquireMs }: RecordParts,
): Promise<void> {
  await pool.query(
    {
      text: `
        insert into ${tables.inboxRefused} as known (tenant, source, event_id, because, body_hash, id_preview, type, event_at,
          receipts, refused_at, last_refused_at, keep_until, headers, body, ordering_key)
        select tenant, source, event_id, $11::text, body_hash, id_preview, type, event_at,
          1, at, at, keep_until, headers, body, $12::text
        from (${ARRIVAL}) as arrival
        on conflict (tenant, source, event_id, because, body_hash) do update set receipts = known.receipts + 1,
          last_refused_at = excluded.last_refused_at, keep_until = excluded.keep_until`,
      params: [...arrivalParams(arrival), because, arrival.key ?? null],
    },
    acquireMs,
  );
}

/** Removes up to `limit` rows whose window has passed, oldest first, and says how many. */
export async function removePassed(pool: Pool<unknown>, limit: number, parts: RecordParts): Promise<number> {
  const events = await removeEvents(pool, limit, parts);
  return events === limit ? events : events + (await removeRefused(pool, limit - events, parts));
}

// Rows are found by their ctid and skipped while another transaction has locked them: a purge waits for no one, and no
// plan can make it scan the table. `clock_timestamp()` is called once, not per row, so that the index is used.
function passedIn(table: string): string {
  return `
    ctid = any (array(
      select ctid from ${table} where keep_until <= (select clock_timestamp())
      order by keep_until limit $1::text::int8 for update skip locked
    ))`;
}

async function removeEvents(
  pool: Pool<unknown>,
  limit: number,
  { tables, acquireMs }: RecordParts,
): Promise<number> {
  const { rows } = await pool.query(
    {
      // Attempts left behind would be taken for attempts of the next event of this id.
      text: `
        with gone as (
          delete from ${tables.inbox} where ${passedIn(tables.inbox)} returning tenant, source, event_id, consumer
        ), attempts as (
          delete from ${tables.inboxAttempt} as attempt using gone
          where (attempt.tenant, attempt.source, attempt.event_id, attempt.consumer)
            = (gone.tenant, gone.source, gone.event_id, gone.consumer)
        )
        select count(*)::text as count from gone`,
      params: [String(limit)],
    },
    acquireMs,
  );
  return Number(rows[0]?.[0] ?? 0);
}

async function removeRefused(
  pool: Pool<unknown>,
  limit: number,
  { tables, acquireMs }: RecordParts,
): Promise<number> {
  const { rows } = await pool.query(
    {
      text: `
        with gone as (delete from ${tables.inboxRefused} where ${passedIn(tables.inboxRefused)} returning 1)
        select count(*)::text as count from gone`,
      params: [String(limit)],
    },
    acquireMs,
  );
  return Number(rows[0]?.[0] ?? 0);
}

/** Whether a purge would find something to remove. */
export async function isAnyPassed(pool: Pool<unknown>, { tables, acquireMs }: RecordParts): Promise<boolean> {
  const [inbox, refused] = [tables.inbox, tables.inboxRefused].map(
    (table) => `exists (select from ${table} where keep_until <= (select clock_timestamp()))`,
  );
  const { rows } = await pool.query({ text: `select (${inbox} or ${refused})::text as more` }, acquireMs);
  return rows[0]?.[0] === "true";
}
