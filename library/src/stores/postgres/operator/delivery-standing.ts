import { millisecondsOf } from "../inbox/inbox-row.js";
import type { OutboxTables } from "../schema/outbox-tables.js";

/** Every delivery of the events with the numbers $1, and how it stands. */
export function deliveriesSql(tables: OutboxTables): string {
  return `
    with wanted as materialized (
      select id, public_id, tenant, type, key from ${tables.event} where id = any ($1::int8[])
    ), here as materialized (
      select wanted.id as event_id, wanted.key, endpoint.id as endpoint_id, endpoint.public_id from wanted
      join ${tables.endpoint} as endpoint on endpoint.tenant = wanted.tenant and endpoint.removed_at is null
    ), placed as materialized (${placedSql(tables)}
    ), ${toldSql(tables)}`;
}

/** The delivery of the lane $1 and the sequence $2, or without a lane of the number $3. */
export function deliverySql(tables: OutboxTables): string {
  return `
    with placed as materialized (${placedAtSql(tables)}
    ), wanted as materialized (
      select id, public_id, tenant, type, key from ${tables.event} where id = (select max(event_id) from placed)
    ), ${toldSql(tables)}`;
}

/** What is told of the deliveries `placed` of the events `wanted`. */
function toldSql(tables: OutboxTables): string {
  return `clock as materialized (
      select clock_timestamp() as at
    ), entry as materialized (
      select placed.event_id, placed.lane_id, seq, loose_id, coalesce(max(placed.endpoint_id), max(lane.endpoint_id))
        as endpoint_id
      from placed left join ${tables.lane} as lane on lane.lane_id = placed.lane_id
      group by placed.event_id, placed.lane_id, seq, loose_id
    ), standing as materialized (${standingSql(tables)}
    )
    select lane_id::text, seq::text, loose_id::text, event.public_id, standing.endpoint, event.tenant, event.type,
      coalesce(standing.key, case ordered_by when 'key' then event.key when 'endpoint' then standing.endpoint end),
      standing.round::text, standing.state,
      case standing.state when 'dead' then dead_because when 'cancelled' then cancelled_because end,
      (select count(*) from (${attemptsSql(tables, "standing", "and round = standing.round")}) as tried)::text,
      status::text, error, ${millisecondsOf("started_at")},
      case when is_next and endpoint_state = 'active' and standing.state in ('waiting', 'retrying')
        then ceil(greatest(0, extract(epoch from ready_at - at) * 1000))::int8::text end
    from standing join wanted as event on event.id = standing.event_id cross join clock
    -- At one endpoint a redrive stands after what it repeats; else they are in the order of the endpoints.
    order by event.id, row_number() over (partition by event.id, standing.endpoint order by seq, loose_id),
      standing.endpoint`;
}

function placedSql({ lane, delivery, loose, attempt, looseAttempt, dead, cancelled }: OutboxTables): string {
  return `
      select here.event_id, held.lane_id, held.seq, null::int8 as loose_id, here.endpoint_id
      from here cross join lateral (
        select lane.lane_id, delivery.seq from ${lane} as lane
        join ${delivery} as delivery on delivery.lane_id = lane.lane_id and delivery.event_id = here.event_id
        where lane.endpoint_id = here.endpoint_id and lane.key = any (array[here.key, here.public_id])
        offset 0
      ) as held
      union all
      select here.event_id, null, null, free.id, here.endpoint_id
      from here cross join lateral (
        select id from ${loose} as loose
        where loose.endpoint_id = here.endpoint_id and ready_at is not null and loose.event_id = here.event_id
        limit 1
      ) as free
      union all
      select wanted.id, attempt.lane_id, attempt.seq, null, null from wanted
      join ${attempt} as attempt on attempt.event_id = wanted.id and no = 1
      union all
      select wanted.id, null, null, attempt.delivery_id, attempt.endpoint_id from wanted
      join ${looseAttempt} as attempt on attempt.event_id = wanted.id and no = 1
      union all
      select wanted.id, dead.lane_id, dead.seq, loose_id, endpoint_id from wanted
      join ${dead} as dead on dead.event_id = wanted.id
      union all
      select wanted.id, cancelled.lane_id, cancelled.seq, loose_id, endpoint_id from wanted
      join ${cancelled} as cancelled on cancelled.event_id = wanted.id
      where cancelled.lane_id is not null or loose_id is not null`;
}

function placedAtSql({ delivery, loose, attempt, looseAttempt, dead, cancelled }: OutboxTables): string {
  const ofLane = "lane_id = $1::text::int8 and seq = $2::text::int8";
  const ofLoose = "loose_id = $3::text::int8";
  return `
      select event_id, lane_id, seq, null::int8 as loose_id, null::int8 as endpoint_id from ${delivery} where ${ofLane}
      union all
      select event_id, lane_id, seq, null, null from ${attempt} where ${ofLane}
      union all
      select event_id, null, null, id, endpoint_id from ${loose} where id = $3::text::int8
      union all
      select event_id, null, null, delivery_id, endpoint_id from ${looseAttempt} where delivery_id = $3::text::int8
      union all
      ${endedIn(dead, ofLane)}
      union all
      ${endedIn(dead, ofLoose)}
      union all
      ${endedIn(cancelled, ofLane)}
      union all
      ${endedIn(cancelled, ofLoose)}`;
}

function endedIn(table: string, which: string): string {
  return `select event_id, lane_id, seq, loose_id, endpoint_id from ${table} where ${which}`;
}

/** The attempts of one place. */
function attemptsSql({ attempt, looseAttempt }: OutboxTables, of: string, which: string): string {
  return `
          select round, no, status, error, started_at from ${attempt} as attempt
          where attempt.lane_id = ${of}.lane_id and attempt.seq = ${of}.seq ${which}
          union all
          select round, no, status, error, started_at from ${looseAttempt} as attempt
          where attempt.delivery_id = ${of}.loose_id ${which}`;
}

/** The last row of one place that tells why it ended. */
function endSql(table: string): string {
  return `
        select round, because from (
          select round, because from ${table} as ended
          where ended.lane_id = entry.lane_id and ended.seq = entry.seq
          union all
          select round, because from ${table} as ended where ended.loose_id = entry.loose_id
        ) as ended order by round desc limit 1`;
}

// Of a run all deliveries are under way. What is neither waiting nor ended otherwise was delivered.
function standingSql(tables: OutboxTables): string {
  const { endpoint, lane, laneState, delivery, loose } = tables;
  return `
      select entry.*, endpoint.public_id as endpoint, endpoint.state as endpoint_state, ordered_by, lane.key,
        dead.because as dead_because, cancelled.because as cancelled_because, tried.status, tried.error,
        tried.started_at, now.round,
        coalesce(held.seq = state.head_seq, free.id is not null) as is_next,
        coalesce(state.ready_at, free.ready_at) as ready_at,
        case
          when held.seq is not null then case
            when held.seq = state.head_seq and state.state <> 'flowing' then 'dead'
            when state.leased_until > at and held.seq < state.head_seq + greatest(run_len, 1) then 'under_way'
            when held.seq = state.head_seq and state.attempts > 0 then 'retrying'
            else 'waiting' end
          when free.id is not null and free.ready_at is not null then case
            when free.leased_until > at then 'under_way' when free.attempts > 0 then 'retrying' else 'waiting' end
          when dead.round = now.round then 'dead'
          when cancelled.round = now.round then 'cancelled'
          else 'delivered'
        end as state
      from entry cross join clock
      join ${endpoint} as endpoint on endpoint.id = entry.endpoint_id
      left join ${lane} as lane on lane.lane_id = entry.lane_id
      left join ${laneState} as state on state.lane_id = entry.lane_id
      left join ${delivery} as held on held.lane_id = entry.lane_id and held.seq = entry.seq
      left join ${loose} as free on free.id = entry.loose_id
      left join lateral (
        select * from (${attemptsSql(tables, "entry", "")}) as tried order by round desc, no desc limit 1
      ) as tried on true
      left join lateral (${endSql(tables.dead)}) as dead on true
      left join lateral (${endSql(tables.cancelled)}) as cancelled on true
      cross join lateral (
        select greatest(held.round, free.round, tried.round, dead.round, cancelled.round) as round
      ) as now`;
}
