import type { Pool } from "pg";
import type { IdSource } from "./event-ids.js";

export const ROWS_PER_STATEMENT = 200;
const TTL_S = 14 * 24 * 3600;

/** The insert of `postgresDedup`, with the same columns, indexes and conflict rule. */
const INSERT = `
  insert into raw.posthorn_dedup as known (id, expires_at, mark)
  select id, clock_timestamp() + make_interval(secs => ttl), $3::text::int8 from given
  on conflict (id) do update set expires_at = excluded.expires_at, mark = excluded.mark
    where known.expires_at <= clock_timestamp()
  returning id`;

/** Nothing but the insert: what the table itself can take. It stalls and deadlocks where two batches share an id. */
export const UNLOCKED = `
  with given as (
    select id, ttl from unnest($1::text[], $2::float8[]) as receipt (id, ttl)
  ), written as (${INSERT})
  select string_agg(id, e'\\n') from written`;

/** The insert under the locks that keep batches from waiting for each other: the statement that `postgresDedup` sends. */
export const LOCKED = `
  with receipt as materialized (
    select id, ttl
    from (select set_config('lock_timeout', '100', true)) as setting
    cross join unnest($1::text[], $2::float8[]) as receipt (id, ttl)
  ), locked as materialized (
    select id, ttl, pg_try_advisory_xact_lock(hashtextextended(id, 'raw.posthorn_dedup'::regclass::oid::int8)) as got
    from receipt
  ), given as (
    select id, ttl from locked where got
  ), written as (${INSERT})
  select (select string_agg(id, e'\\n') from written), (select string_agg(id, e'\\n') from locked where not got)`;

const TTLS = `{${Array.from({ length: ROWS_PER_STATEMENT }, () => TTL_S).join(",")}}`;

/** Writes one batch: no caller waits for its id, so nothing has to be gathered or answered. */
export async function writeBatch(pool: Pool, statement: string, nextId: IdSource): Promise<void> {
  const ids = Array.from({ length: ROWS_PER_STATEMENT }, nextId);
  const { rows } = await pool.query<[string | null]>({
    name: statement === LOCKED ? "locked" : "unlocked",
    text: statement,
    values: [`{${ids.join(",")}}`, TTLS, "1"],
    rowMode: "array",
  });
  const first = rows[0]?.[0]?.split("\n").length;
  if (first !== ROWS_PER_STATEMENT)
    throw new Error(`${ROWS_PER_STATEMENT} ids are new; ${first} were first.`);
}
