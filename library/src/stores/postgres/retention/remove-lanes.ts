import { numberArray } from "../client/column-arrays.js";
import { columns, number } from "../client/columns.js";
import type { Session } from "../client/database.js";
import { lockStage } from "../lanes/stage.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";

const COUNT = columns<{ readonly count: number }>({ count: number("count(*)") });

/**
 * Removes those of these lanes in which nothing waits and of which nothing is told any more. Under the lock of the
 * sequencer, which has looked lanes up by their names, and would find one without a state.
 */
export async function removeEmptyLanes(
  session: Session,
  lanes: readonly bigint[],
  tables: Tables,
): Promise<number> {
  const params = [numberArray(lanes)];
  const any = await session.query({ text: COUNT_EMPTY(tables), params, prepared: true });
  if (COUNT.read(any.rows[0] ?? []).count === 0) return 0;
  await lockStage(session, tables);
  const { rows } = await session.query({ text: REMOVE(tables), params, prepared: true });
  return COUNT.read(rows[0] ?? []).count;
}

/** Of a lane: nothing is told of it. */
export function untoldSql(lane: string, { attempt, dead, cancelled }: Tables): string {
  return `not exists (select from ${attempt} as told where told.lane_id = ${lane}.lane_id)
        and not exists (select from ${dead} as told where told.lane_id = ${lane}.lane_id)
        and not exists (select from ${cancelled} as told where told.lane_id = ${lane}.lane_id)`;
}

const IS_EMPTY = "state.head_seq = state.next_seq and state.state = 'flowing'";

/** A lane without a state is one of a removed consumer. */
function statelessSql({ laneState }: Tables): string {
  return `not exists (select from ${laneState} as any_state where any_state.lane_id = given.lane_id)`;
}

const COUNT_EMPTY = sqlFor(
  (tables) => `
    select ${COUNT.list} from unnest($1::int8[]) as given (lane_id)
    left join lateral (
      select lane_id from ${tables.laneState} as state where state.lane_id = given.lane_id and ${IS_EMPTY} limit 1
    ) as state on true
    where (state.lane_id is not null or ${statelessSql(tables)}) and ${untoldSql("given", tables)}`,
);

// In the order of their ids, as everyone locks lanes, and only those that are empty before they are locked: one whose last
// delivery is settled meanwhile would be waited for, and removed without a look at the attempt of that. Lanes that are made from now on have a higher generation than
// those that are gone: a receiver that remembers the sequences of one must not compare them with those of its successor.
const REMOVE = sqlFor(
  (tables) => `
    with given as materialized (
      select lane_id from unnest($1::int8[]) as given (lane_id) order by lane_id
    ), empty as materialized (
      select given.lane_id from given left join lateral (
        select lane_id from ${tables.laneState} as state where state.lane_id = given.lane_id and ${IS_EMPTY} for update
      ) as state on true
      where (state.lane_id is not null or ${statelessSql(tables)}) and ${untoldSql("given", tables)}
    ), stateless as (
      delete from ${tables.laneState} as state using empty where state.lane_id = empty.lane_id
    ), gone as (
      delete from ${tables.lane} as lane using empty where lane.lane_id = empty.lane_id returning 1
    ), raised as (
      update ${tables.outboxConfig} set generation = generation + 1 where one and exists (select from empty)
    )
    select ${COUNT.list} from gone`,
);
