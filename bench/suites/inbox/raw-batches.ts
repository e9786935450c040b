import type { Pool } from "pg";
import type { IdSource } from "./event-ids.js";

export const ROWS_PER_STATEMENT = 200;
const TTL_S = 14 * 24 * 3600;

/** The insert of `postgresDedup`, with the same columns, indexes and conflict rule. */
const INSERT = `
  insert into raw.dedup as known (scope, id, expires_at, mark)
  select '', id, clock_timestamp() + make_interval(secs => ttl), $3::text::int8 from given
  on conflict (scope, id) do update set expires_at = excluded.expires_at, mark = excluded.mark
    where known.expires_at <= clock_timestamp()
  returning id`;

/** Nothing but the insert: what the table itself can take. It stalls and deadlocks where two batches share an id. */
export const UNLOCKED = `
  with given as (
    select id, ttl from unnest($1::text[], $2::float8[]) as receipt (id, ttl)
  ), written as (${INSERT})
  select id, 'first' as state from written`;

/** The insert under the locks that keep batches from waiting for each other: the statement that `postgresDedup` sends. */
export const LOCKED = `
  with receipt as materialized (
    select id, ttl
    from (select set_config('lock_timeout', '100', true) as lock_timeout) as setting
    cross join unnest($1::text[], $2::float8[]) as receipt (id, ttl)
  ), locked as materialized (
    select id, ttl, pg_try_advisory_xact_lock(hashtextextended(id, 'raw.dedup'::regclass::oid::int8)) as got
    from receipt
  ), given as (
    select id, ttl from locked where got
  ), written as (${INSERT})
  select id, 'first' as state from written union all select id, 'busy' from locked where not got`;

const TTLS = `{${Array.from({ length: ROWS_PER_STATEMENT }, () => TTL_S).join(",")}}`;

/** Writes one batch: no caller waits for its id, so nothing has to be gathered or answered. */
export async function writeBatch(pool: Pool, statement: string, nextId: IdSource): Promise<void> {
  const ids = Array.from({ length: ROWS_PER_STATEMENT }, nextId);
  const { rows } = await pool.query<[id: string, state: string]>({
    name: statement === LOCKED ? "locked" : "unlocked",
    text: statement,
    values: [`{${ids.join(",")}}`, TTLS, "1"],
    rowMode: "array",
  });
  const first = rows.filter(([, state]) => state === "first").length;
  if (first !== ROWS_PER_STATEMENT)
    throw new Error(`${ROWS_PER_STATEMENT} ids are new; ${first} were first.`);
}
