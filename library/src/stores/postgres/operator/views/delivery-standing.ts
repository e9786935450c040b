import type { DeliverySummary } from "../../../../operator/lookup-store.js";
import { bigint, columns, instant, number, optional, text } from "../../client/columns.js";
import type { Row } from "../../client/database.js";
import { stateNow } from "../../outbox/consumer-state.js";
import type { Tables } from "../../schema/tables.js";
import { sqlFor } from "../../schema/tables.js";

export interface StandingValues extends Omit<DeliverySummary, "id"> {
  readonly looseId: bigint | undefined;
}

const STANDING = columns<StandingValues>({
  laneId: optional(bigint("lane_id")),
  sequence: optional(bigint("seq")),
  looseId: optional(bigint("loose_id")),
  eventId: text("event.public_id"),
  endpointId: text("standing.consumer"),
  tenant: text("event.tenant"),
  type: text("event.type"),
  key: optional(
    text(
      `coalesce(standing.key, case ordered_by when 'key' then event.key when 'endpoint' then standing.consumer end)`,
    ),
  ),
  round: number("standing.round"),
  state: text("standing.state"),
  because: optional(
    text("case standing.state when 'dead' then dead_because when 'cancelled' then cancelled_because end"),
  ),
  attempts: number("tried_count"),
  lastStatus: optional(number("status")),
  lastError: optional(text("error")),
  lastAttemptAt: optional(instant("started_at")),
  dueInMs: optional(
    number(`case when is_next and consumer_state = 'active' and standing.state in ('waiting', 'retrying')
        then ceil(greatest(0, extract(epoch from ready_at - at) * 1000))::int8 end`),
  ),
});

/** A row of both statements below. */
export function standingOf(row: Row): StandingValues {
  return STANDING.read(row);
}

/** Every delivery of the events with the numbers $1, and how it stands. */
export const deliveriesSql: (tables: Tables) => string = sqlFor(
  (tables) => `
    with wanted as materialized (
      select id, public_id, tenant, type, key from ${tables.event} where id = any ($1::int8[])
    ), placed as materialized (${placedSql(tables)}
    ), ${toldSql(tables)}`,
);

/** The delivery of the lane $1 and the sequence $2, or without a lane of the number $3. */
export const deliverySql: (tables: Tables) => string = sqlFor(
  (tables) => `
    with placed as materialized (${placedAtSql(tables)}
    ), wanted as materialized (
      select id, public_id, tenant, type, key from ${tables.event} where id = (select max(event_id) from placed)
    ), ${toldSql(tables)}`,
);

/** What is told of the deliveries `placed` of the events `wanted`. */
function toldSql(tables: Tables): string {
  return `clock as materialized (
      select clock_timestamp() as at
    ), entry as materialized (
      select placed.event_id, placed.lane_id, seq, loose_id, coalesce(max(placed.consumer_id), max(lane.consumer_id))
        as consumer_id
      from placed left join ${tables.lane} as lane on lane.lane_id = placed.lane_id
      group by placed.event_id, placed.lane_id, seq, loose_id
    ), standing as materialized (${standingSql(tables)}
    )
    select ${STANDING.list}
    from standing join wanted as event on event.id = standing.event_id cross join clock
    cross join lateral (
      select count(*) as tried_count
      from (${attemptsSql(tables, "standing", "and round = standing.round")}) as tried
    ) as tried
    -- At one consumer a redrive stands after what it repeats; else they are in the order of the consumers.
    order by event.id, row_number() over (partition by event.id, standing.consumer order by seq, loose_id),
      standing.consumer`;
}

// What waits without a lane is found among all that waits for the consumers of the event's tenant, in an index alone.
function placedSql({ consumer, delivery, loose, attempt, looseAttempt, dead, cancelled }: Tables): string {
  return `
      select wanted.id as event_id, held.lane_id, held.seq, null::int8 as loose_id, null::int8 as consumer_id
      from wanted join ${delivery} as held on held.event_id = wanted.id
      union all
      select wanted.id, null, null, free.id, consumer.id
      from wanted
      join ${consumer} as consumer on consumer.tenant in (wanted.tenant, '') and consumer.removed_at is null
      cross join lateral (
        select id from ${loose} as loose
        where loose.consumer_id = consumer.id and ready_at is not null and loose.event_id = wanted.id
        limit 1
      ) as free
      union all
      select wanted.id, attempt.lane_id, attempt.seq, null, null from wanted
      join ${attempt} as attempt on attempt.event_id = wanted.id and no = 1
      union all
      select wanted.id, null, null, attempt.delivery_id, attempt.consumer_id from wanted
      join ${looseAttempt} as attempt on attempt.event_id = wanted.id and no = 1
      union all
      select wanted.id, dead.lane_id, dead.seq, loose_id, consumer_id from wanted
      join ${dead} as dead on dead.event_id = wanted.id
      union all
      select wanted.id, cancelled.lane_id, cancelled.seq, loose_id, consumer_id from wanted
      join ${cancelled} as cancelled on cancelled.event_id = wanted.id
      where cancelled.lane_id is not null or loose_id is not null`;
}

function placedAtSql({ delivery, loose, attempt, looseAttempt, dead, cancelled }: Tables): string {
  const ofLane = "lane_id = $1::text::int8 and seq = $2::text::int8";
  const ofLoose = "loose_id = $3::text::int8";
  return `
      select event_id, lane_id, seq, null::int8 as loose_id, null::int8 as consumer_id from ${delivery} where ${ofLane}
      union all
      select event_id, lane_id, seq, null, null from ${attempt} where ${ofLane}
      union all
      select event_id, null, null, id, consumer_id from ${loose} where id = $3::text::int8
      union all
      select event_id, null, null, delivery_id, consumer_id from ${looseAttempt} where delivery_id = $3::text::int8
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
  return `select event_id, lane_id, seq, loose_id, consumer_id from ${table} where ${which}`;
}

/** The attempts of one place. */
function attemptsSql({ attempt, looseAttempt }: Tables, of: string, which: string): string {
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
function standingSql(tables: Tables): string {
  const { consumer, lane, laneState, delivery, loose } = tables;
  return `
      select entry.*, consumer.public_id as consumer, ${stateNow("consumer")} as consumer_state, ordered_by, lane.key,
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
      join ${consumer} as consumer on consumer.id = entry.consumer_id
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
