import type { Claimable } from "../../../lanes/lane-store.js";
import { LAPSES_BEFORE_ALONE } from "../../../lanes/lane.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";
import { stateNow } from "../outbox/consumer-state.js";
import { LANE_COLUMNS, LOCKED_NAMES, LOOSE_COLUMNS, readLockedSql } from "./lane-row.js";

/** When the lanes that a claim asks for are ready: all, or the brief ones, whose column is null for every other lane. */
type ReadyColumn = "ready_at" | "brief_at";

/** The next consumer after one for which something waits, due or not. */
function nextConsumer(after: string, readyAt: ReadyColumn, { laneState, loose }: Tables): string {
  const next = (table: string, column: ReadyColumn): string => `(
          select entry.consumer_id from ${table} as entry
          where ${column} is not null and entry.consumer_id > ${after}
          order by entry.consumer_id limit 1
        )`;
  return `least(${next(laneState, readyAt)}, ${next(loose, "ready_at")})`;
}

/** Consumers in the order of their numbers, after one. */
export interface Walk {
  readonly name: string;
  readonly after: string;
  readonly readyAt: ReadyColumn;
}

/**
 * Every consumer after one for which something waits, due or not, as a recursive query: by steps from one to the next in
 * the index, so that idle consumers, and the many lanes of one, cost nothing.
 */
export function waitingConsumersSql({ name, after, readyAt }: Walk, tables: Tables): string {
  return `${name} (consumer_id) as (
      select ${nextConsumer(after, readyAt, tables)}
      union all
      select ${nextConsumer(`${name}.consumer_id`, readyAt, tables)} from ${name} where ${name}.consumer_id is not null
    )`;
}

/** Whose lanes are claimed: of endpoints those that something waits for, of handlers those that are named. */
export type PickedKind = Claimable["kind"];

/** What is due at a consumer. The clock is read once, as a subquery: read for each row, it could not bound the scan of the index. */
function dueAt(table: string, consumer: string, readyAt: ReadyColumn = "ready_at"): string {
  return `from ${table} as state
        where state.consumer_id = ${consumer}.id and ${readyAt} <= (select at from clock)
          and lapses < ${LAPSES_BEFORE_ALONE}`;
}

/** How much of a consumer is locked: its share of the claim, and no more than it has room for. */
const LIMITED = "limit least(turn.room, (select lanes from share)) for update skip locked";

// How far a lane is read ahead; the rule decides how much of that is leased. A head that was tried is never leased with
// others, whose bodies would be read for nothing.
const READ_MAX = "case when attempts > 0 then 1 else $5::text::int4 end";

/** Endpoints for which something waits, in their turn after the one that was served last. */
function waitingTurnsSql(readyAt: ReadyColumn, tables: Tables): string {
  return `${waitingConsumersSql({ name: "ahead", after: "$1::text::int8", readyAt }, tables)},
    ${waitingConsumersSql({ name: "behind", after: "-1", readyAt }, tables)},
    waiting as materialized (
      select consumer_id from ahead
      union all
      select consumer_id from behind where consumer_id <= $1::text::int8
    )`;
}

// By their ids, and not among all consumers for which something waits: a walk over 10,000 endpoints to find two handlers
// took 320 ms, this takes 3.
function namedTurnsSql({ consumer }: Tables): string {
  return `waiting as materialized (
      select id as consumer_id from ${consumer} as consumer
      where public_id = any ($7::text[]) and removed_at is null order by id <= $1::text::int8, id
    )`;
}

/**
 * Picks and locks what is due, and reads it: $1 is the consumer that was served last, $2 the limit, $3 how many
 * claims the worker holds by consumer, $4 its share by consumer and $6 that of all others, $5 the most deliveries of a
 * run, and, for handlers, $7 their ids. The room of a consumer is `roomOf`: a handler has no `max_in_flight`, and `least`
 * leaves out what is null. Whether something is due is asked as a value,
 * not by `exists`, which was planned as a hash of everything that is due anywhere.
 */
export const pickDueSql: Readonly<Record<PickedKind, (tables: Tables) => string>> = {
  endpoint: sqlFor((tables) => dueSql("endpoint", "ready_at", tables)),
  handler: sqlFor((tables) => dueSql("handler", "ready_at", tables)),
};

/** The same of brief lanes and loose deliveries. */
export const pickBriefSql: typeof pickDueSql = {
  endpoint: sqlFor((tables) => dueSql("endpoint", "brief_at", tables)),
  handler: sqlFor((tables) => dueSql("handler", "brief_at", tables)),
};

function dueSql(kind: PickedKind, readyAt: ReadyColumn, tables: Tables): string {
  return `
    with recursive clock as materialized (
      select clock_timestamp() as at
    ), given as materialized (
      -- Objects of JSON are searched by halves: a list would be read from its start for each consumer that waits.
      select $3::text::jsonb as held, $4::text::jsonb as shares
    ), ${kind === "endpoint" ? waitingTurnsSql(readyAt, tables) : namedTurnsSql(tables)},
    turn as materialized (
      select known.id, known.room, row_number() over () as nth
      from waiting
      cross join lateral (
        select id, kind, ${stateNow("consumer")} as state, removed_at, least(
            max_in_flight,
            coalesce(((select shares from given) ->> consumer.public_id)::int4, $6::text::int4)
          ) - coalesce(((select held from given) ->> consumer.public_id)::int4, 0) as room
        from ${tables.consumer} as consumer where consumer.id = waiting.consumer_id limit 1
      ) as known
      where known.kind = '${kind}' and known.state = 'active' and known.removed_at is null and known.room > 0 and coalesce(
        (select 1 ${dueAt(tables.laneState, "known", readyAt)} limit 1), (select 1 ${dueAt(tables.loose, "known")} limit 1)
      ) is not null
      limit $2::text::int8
    ), share as materialized (
      select ceil($2::text::float8 / greatest(count(*), 1))::int8 as lanes from turn
    ), lanes as materialized (
      select nth, room, state.* from turn cross join lateral (
        select ${LANE_COLUMNS}, ready_at
        ${dueAt(tables.laneState, "turn", readyAt)}
        order by ${readyAt} ${LIMITED}
      ) as state
      limit $2::text::int8
    ), loose as materialized (
      select nth, room, state.* from turn cross join lateral (
        select ${LOOSE_COLUMNS}, ready_at
        ${dueAt(tables.loose, "turn")}
        order by ready_at ${LIMITED}
      ) as state
      limit $2::text::int8
    ), ${aloneSql(tables, isPicked(kind, "$7"))}, locked as materialized (
      select n, ${LOCKED_NAMES}, head_seq as read_from, ${READ_MAX} as read_max from (
        -- One of each consumer in turn, and of a consumer no more than it has room for.
        select row_number() over (order by turns, nth, ready_at) as n, picked.* from (
          select row_number() over (partition by nth order by ready_at) as turns, due.*
          from (select * from lanes union all select * from loose) as due
        ) as picked
        where turns <= room
        order by n limit $2::text::int8
      ) as picked
      union all
      select n, ${LOCKED_NAMES}, head_seq, 1 from alone
    )
    ${readLockedSql("locked", tables)}`;
}

/** Whether a consumer's lanes are picked: `isClaimable` in SQL. */
function isPicked(kind: PickedKind, ids: string): string {
  const isOfKind = `consumer.kind = '${kind}'`;
  return kind === "handler" ? `${isOfKind} and consumer.public_id = any (${ids}::text[])` : isOfKind;
}

// How many that lapsed once more while they ran alone are given up with each claim.
const MAX_ALONE = 5;

/** Locks what has lapsed so often that it runs alone: almost always nothing, and its index is empty. It is numbered below all others. */
function aloneSql({ consumer, laneState, loose }: Tables, picked: string): string {
  const due = (table: string): string => `
      from ${table} as state
      where lapses >= ${LAPSES_BEFORE_ALONE} and ready_at <= (select at from clock) and (
        select ${stateNow("consumer")} = 'active' and removed_at is null and ${picked} from ${consumer} as consumer
        where consumer.id = state.consumer_id limit 1
      )
      order by ready_at limit ${MAX_ALONE} for update skip locked`;
  return `lapsed_lanes as materialized (
      select ${LANE_COLUMNS} ${due(laneState)}
    ), lapsed_loose as materialized (
      select ${LOOSE_COLUMNS} ${due(loose)}
    ), alone as materialized (
      select -row_number() over () as n, lapsed.*
      from (select * from lapsed_lanes union all select * from lapsed_loose) as lapsed
    )`;
}

/** Picks and locks what runs alone, and nothing else; for handlers, $1 are their ids. */
export const pickAloneSql: Readonly<Record<PickedKind, (tables: Tables) => string>> = {
  endpoint: sqlFor((tables) => pickedAloneSql("endpoint", tables)),
  handler: sqlFor((tables) => pickedAloneSql("handler", tables)),
};

function pickedAloneSql(kind: PickedKind, tables: Tables): string {
  return `
    with clock as materialized (
      select clock_timestamp() as at
    ), ${aloneSql(tables, isPicked(kind, "$1"))}
    ${readLockedSql(`(select n, ${LOCKED_NAMES}, head_seq as read_from, 1 as read_max from alone)`, tables)}`;
}
