import type { EndpointStanding } from "../../../../operator/view-store.js";
import { MOST_COUNTED } from "../../../../operator/view-store.js";
import { boolean, columns, number, optional, text } from "../../client/columns.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import { sqlFor } from "../../schema/tables.js";

const STANDING = columns<EndpointStanding>({
  endpointId: text("consumer.public_id"),
  tenant: text("consumer.tenant"),
  waiting: number("lanes.depth + loose.found + coalesce(blocked.depth, 0)"),
  haltedLanes: number("coalesce(halted, 0)"),
  parkedLanes: number("coalesce(parked, 0)"),
  retryingLanes: number("coalesce(retrying, 0)"),
  blocked: number("coalesce(blocked.depth, 0)"),
  oldestMs: optional(
    number(`case when least(lanes.since, loose.since, blocked.since) <= at
        then (extract(epoch from at - least(lanes.since, loose.since, blocked.since)) * 1000)::int8 end`),
  ),
  exact: boolean(
    `lanes.found < ${MOST_COUNTED.perEndpoint} and loose.found < ${MOST_COUNTED.perEndpoint} and all_blocked < ${MOST_COUNTED.blocked}`,
  ),
});

/** How much waits at each endpoint. Nothing is counted further than a page needs, whatever waits. */
export function readStandings(database: StoreDatabase): Promise<readonly EndpointStanding[]> {
  return readStandingsOf(database, "endpoint");
}

/** How much waits at each consumer of a kind. */
export async function readStandingsOf(
  { transactions, tables }: StoreDatabase,
  kind: "endpoint" | "handler",
): Promise<readonly EndpointStanding[]> {
  const rows = await transactions.readKept({ text: STANDINGS(tables), params: [kind] });
  return rows.map((row) => STANDING.read(row));
}

// Lanes that stand still have no ready time: they are found among the blocked ones, in whose index they are; all others
// by the indexes from which claims take them.
const STANDINGS = sqlFor(
  ({ consumer, laneState, loose }) => `
    with clock as materialized (
      select clock_timestamp() as at
    ), stuck as materialized (
      select consumer_id, state, next_seq, head_seq, blocked_at from ${laneState}
      where blocked_at is not null order by blocked_at, lane_id limit ${MOST_COUNTED.blocked}
    ), blocked as materialized (
      select consumer_id, min(blocked_at) as since,
        count(*) filter (where state = 'halted') as halted, count(*) filter (where state = 'parked') as parked,
        count(*) filter (where state = 'flowing') as retrying,
        coalesce(sum(next_seq - head_seq) filter (where state <> 'flowing'), 0) as depth
      from stuck group by consumer_id
    )
    select ${STANDING.list}
    from ${consumer} as consumer cross join clock
    cross join (select count(*) as all_blocked from stuck) as counted
    left join blocked on blocked.consumer_id = consumer.id
    cross join lateral (
      select count(*) as found, coalesce(sum(next_seq - head_seq), 0) as depth,
        min(ready_at) filter (where leased_by is null and ready_at <= clock_timestamp()) as since
      from (
        select next_seq, head_seq, ready_at, leased_by from ${laneState} as state
        where state.consumer_id = consumer.id and ready_at is not null
        order by ready_at limit ${MOST_COUNTED.perEndpoint}
      ) as first
    ) as lanes
    cross join lateral (
      select count(*) as found, min(ready_at) filter (where leased_by is null and ready_at <= clock_timestamp()) as since
      from (
        select ready_at, leased_by from ${loose} as loose
        where loose.consumer_id = consumer.id and ready_at is not null
        order by ready_at limit ${MOST_COUNTED.perEndpoint}
      ) as first
    ) as loose
    where consumer.kind = $1::text and consumer.removed_at is null and (lanes.found > 0 or loose.found > 0 or blocked.consumer_id is not null)
    order by consumer.public_id collate "C"`,
);
