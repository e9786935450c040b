import { LAPSES_BEFORE_ALONE } from "../../delivery/delivery-store.js";
import type { OutboxTables } from "./outbox-tables.js";
import { readLockedSql } from "./claim-rows.js";

/** Endpoints that have something waiting, one after another from the lane's and the loose deliveries' indexes. */
function nextEndpoint(after: string, { laneState, loose }: OutboxTables): string {
  const next = (table: string): string => `(
          select waiting.endpoint_id from ${table} as waiting
          where ready_at is not null and waiting.endpoint_id > ${after} order by waiting.endpoint_id limit 1
        )`;
  return `least(${next(laneState)}, ${next(loose)})`;
}

/**
 * Every endpoint for which something waits, due or not, as `waiting (endpoint_id)`: by steps from one to the next in
 * the index, so that idle endpoints, and the lanes of one, cost nothing. `after` is where it starts.
 */
export function waitingEndpointsSql(name: string, after: string, tables: OutboxTables): string {
  return `${name} (endpoint_id) as (
      select ${nextEndpoint(after, tables)}
      union all
      select ${nextEndpoint(`${name}.endpoint_id`, tables)} from ${name} where ${name}.endpoint_id is not null
    )`;
}

/** What is due at an endpoint. The clock is read once, as a subquery: read for each row, it could not bound the scan of the index. */
function dueAt(table: string, endpoint: string): string {
  return `from ${table} as state
        where state.endpoint_id = ${endpoint} and ready_at <= (select at from clock) and lapses < ${LAPSES_BEFORE_ALONE}`;
}

/**
 * Picks and locks what is due: $1 is the endpoint that was served last, $2 the limit, $3 and $4 how many claims of which
 * endpoint the worker has, $5 the most deliveries of a run.
 */
export function pickSql(tables: OutboxTables): string {
  const { endpoint, laneState, loose } = tables;
  return `
    with recursive clock as materialized (
      select clock_timestamp() as at
    ), ${waitingEndpointsSql("ahead", "$1::text::int8", tables)},
    ${waitingEndpointsSql("behind", "-1", tables)},
    turn as materialized (
      select known.id, known.room, row_number() over () as nth
      from (
        select endpoint_id from ahead
        union all
        select endpoint_id from behind where endpoint_id <= $1::text::int8
      ) as waiting
      cross join lateral (
        select id, max_in_flight - coalesce((
            select count from unnest($3::text[], $4::int4[]) as held (public_id, count)
            where held.public_id = endpoint.public_id limit 1
          ), 0) as room
        from ${endpoint} as endpoint
        where endpoint.id = waiting.endpoint_id and state = 'active' and removed_at is null limit 1
      ) as known
      where known.room > 0 and (
        exists (select ${dueAt(laneState, "known.id")}) or exists (select ${dueAt(loose, "known.id")})
      )
      limit $2::text::int8
    ), share as materialized (
      select ceil($2::text::float8 / greatest(count(*), 1))::int8 as lanes from turn
    ), lanes as materialized (
      select turn.nth, turn.room, state.* from turn cross join lateral (
        select lane_id, endpoint_id, epoch, head_seq, next_seq, last_seq, attempts, failures, lapses, run_len,
          suspect_until, intent, leased_until, ready_at
        ${dueAt(laneState, "turn.id")}
        order by ready_at limit least(turn.room, (select lanes from share)) for update skip locked
      ) as state
      limit $2::text::int8
    ), loose as materialized (
      select turn.nth, turn.room, state.* from turn cross join lateral (
        select id, endpoint_id, epoch, attempts, failures, lapses, leased_until, event_id, round, ready_at
        ${dueAt(loose, "turn.id")}
        order by ready_at limit least(turn.room, (select lanes from share)) for update skip locked
      ) as state
      limit $2::text::int8
    ), ${aloneSql(tables)}
    ${readLockedSql(`(${DUE} union all ${ALONE})`, tables)}`;
}

// How many that lapsed once more while they ran alone are buried with each claim.
const MAX_ALONE = 5;

// A run only where the head was never tried, its last claim was settled, and no run that lapsed held it.
const RUN_MAX = `case when attempts = 0 and leased_until is null and (suspect_until is null or head_seq >= suspect_until)
          then $5::text::int4 else 1 end`;

// One of each endpoint in turn, and of an endpoint no more than it has room for.
const DUE = `(
      select row_number() over (order by turns, nth, ready_at) as n, kind, id, endpoint_id, epoch, head_seq, next_seq,
        last_seq, attempts, failures, lapses, run_len, suspect_until, intent, leased_until, event_id, round, run_from,
        run_max
      from (
        select picked.*, row_number() over (partition by nth order by ready_at) as turns
        from (
          select 'lane' as kind, lane_id as id, endpoint_id, epoch, head_seq, next_seq, last_seq, attempts, failures,
            lapses, run_len, suspect_until, intent, leased_until, null::int8 as event_id, null::int4 as round,
            head_seq as run_from, ${RUN_MAX} as run_max, nth, room, ready_at
          from lanes
          union all
          select 'loose', id, endpoint_id, epoch, 0, 1, null, attempts, failures, lapses, 1, null, null, leased_until,
            event_id, round, 0, 1, nth, room, ready_at
          from loose
        ) as picked
      ) as picked
      where turns <= room
      order by n limit $2::text::int8
    )`;

/** Locks what has lapsed so often that it runs alone: almost always nothing, and its index is empty. */
function aloneSql({ endpoint, laneState, loose }: OutboxTables): string {
  const due = (table: string): string => `
      from ${table} as state
      where lapses >= ${LAPSES_BEFORE_ALONE} and ready_at <= (select at from clock) and exists (
        select from ${endpoint} as endpoint
        where endpoint.id = state.endpoint_id and endpoint.state = 'active' and removed_at is null
      )
      order by ready_at limit ${MAX_ALONE} for update skip locked`;
  return `lapsed_lanes as materialized (
      select lane_id, endpoint_id, epoch, head_seq, next_seq, last_seq, attempts, failures, lapses, run_len,
        suspect_until, intent, leased_until ${due(laneState)}
    ), lapsed_loose as materialized (
      select id, endpoint_id, epoch, attempts, failures, lapses, leased_until, event_id, round ${due(loose)}
    )`;
}

// Numbered below all others.
const ALONE = `
      select -row_number() over () as n, * from (
        select 'lane' as kind, lane_id as id, endpoint_id, epoch, head_seq, next_seq, last_seq, attempts, failures,
          lapses, run_len, suspect_until, intent, leased_until, null::int8 as event_id, null::int4 as round,
          head_seq as run_from, 1 as run_max
        from lapsed_lanes
        union all
        select 'loose', id, endpoint_id, epoch, 0, 1, null, attempts, failures, lapses, 1, null, null, leased_until,
          event_id, round, 0, 1
        from lapsed_loose
      ) as lapsed`;

/** Picks and locks what runs alone, and nothing else. */
export function pickAloneSql(tables: OutboxTables): string {
  return `
    with clock as materialized (
      select clock_timestamp() as at
    ), ${aloneSql(tables)}
    ${readLockedSql(`(${ALONE})`, tables)}`;
}
