import { LAPSES_BEFORE_ALONE } from "../../../lanes/lane.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import { readLockedSql } from "./locked-rows.js";

/** Endpoints that were served a moment ago, as rows, and the time before which nothing of theirs is due. */
const SERVED = "unnest($6::int8[], $7::float8[]) as served (id, since)";

/**
 * The next endpoint for which something waits, due or not. Those that were served a moment ago are known, and are not
 * looked for: the entries of what was claimed since the last vacuum stand before those that wait.
 */
function nextEndpoint(after: string, served: string | undefined, { laneState, loose }: OutboxTables): string {
  const known = served && `(select min(served.id) from ${served} where served.id > ${after})`;
  const next = (table: string): string => `(
          select entry.endpoint_id from ${table} as entry
          where ready_at is not null and entry.endpoint_id > ${after}
            ${known ? `and entry.endpoint_id < coalesce(${known}, 9223372036854775807)` : ""}
          order by entry.endpoint_id limit 1
        )`;
  return `least(${next(laneState)}, ${next(loose)}${known ? `, ${known}` : ""})`;
}

/** Where a walk over endpoints starts, and what it need not look for. */
export interface Walk {
  readonly name: string;
  readonly after: string;
  readonly served?: string;
}

/**
 * Every endpoint for which something waits, due or not, as a recursive query: by steps from one to the next in the
 * index, so that idle endpoints, and the lanes of one, cost nothing.
 */
export function waitingEndpointsSql({ name, after, served }: Walk, tables: OutboxTables): string {
  return `${name} (endpoint_id) as (
      select ${nextEndpoint(after, served, tables)}
      union all
      select ${nextEndpoint(`${name}.endpoint_id`, served, tables)} from ${name} where ${name}.endpoint_id is not null
    )`;
}

/** What is due at an endpoint. The clock is read once, as a subquery: read for each row, it could not bound the scan of the index. */
function dueAt(table: string, endpoint: string): string {
  return `from ${table} as state
        where state.endpoint_id = ${endpoint}.id and ready_at <= (select at from clock) and ready_at >= ${endpoint}.since
          and lapses < ${LAPSES_BEFORE_ALONE}`;
}

/**
 * Picks and locks what is due: $1 is the endpoint that was served last, $2 the limit, $3 and $4 how many claims of which
 * endpoint the worker has, $5 the most deliveries of a run, $6 and $7 what was served a moment ago. Whether something is
 * due is asked as a value, not by `exists`, which was planned as a hash of everything that is due anywhere.
 */
export function pickSql(tables: OutboxTables): string {
  const { endpoint, laneState, loose } = tables;
  return `
    with recursive clock as materialized (
      select clock_timestamp() as at
    ), ${waitingEndpointsSql({ name: "ahead", after: "$1::text::int8", served: SERVED }, tables)},
    ${waitingEndpointsSql({ name: "behind", after: "-1", served: SERVED }, tables)},
    turn as materialized (
      select known.id, known.room, known.since, row_number() over () as nth
      from (
        select endpoint_id from ahead
        union all
        select endpoint_id from behind where endpoint_id <= $1::text::int8
      ) as waiting
      cross join lateral (
        select id, state, removed_at, max_in_flight - coalesce((
            select count from unnest($3::text[], $4::int4[]) as held (public_id, count)
            where held.public_id = endpoint.public_id limit 1
          ), 0) as room,
          coalesce((select to_timestamp(since) from ${SERVED} where served.id = endpoint.id), '-infinity') as since
        from ${endpoint} as endpoint where endpoint.id = waiting.endpoint_id limit 1
      ) as known
      where known.state = 'active' and known.removed_at is null and known.room > 0 and coalesce(
        (select 1 ${dueAt(laneState, "known")} limit 1), (select 1 ${dueAt(loose, "known")} limit 1)
      ) is not null
      limit $2::text::int8
    ), share as materialized (
      select ceil($2::text::float8 / greatest(count(*), 1))::int8 as lanes from turn
    ), lanes as materialized (
      select turn.nth, turn.room, state.* from turn cross join lateral (
        select lane_id, endpoint_id, epoch, head_seq, next_seq, last_seq, attempts, failures, lapses, run_len,
          suspect_until, intent, leased_until, ready_at
        ${dueAt(laneState, "turn")}
        order by ready_at limit least(turn.room, (select lanes from share)) for update skip locked
      ) as state
      limit $2::text::int8
    ), loose as materialized (
      select turn.nth, turn.room, state.* from turn cross join lateral (
        select id, endpoint_id, epoch, attempts, failures, lapses, leased_until, event_id, round, ready_at
        ${dueAt(loose, "turn")}
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
        run_max, ready_at
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
      where lapses >= ${LAPSES_BEFORE_ALONE} and ready_at <= (select at from clock) and (
        select endpoint.state = 'active' and removed_at is null from ${endpoint} as endpoint
        where endpoint.id = state.endpoint_id
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
          head_seq as run_from, 1 as run_max, null::timestamptz as ready_at
        from lapsed_lanes
        union all
        select 'loose', id, endpoint_id, epoch, 0, 1, null, attempts, failures, lapses, 1, null, null, leased_until,
          event_id, round, 0, 1, null
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
