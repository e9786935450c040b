import type { DeadFilter } from "../../../../operator/dead-filter.js";
import type { DeadSummary } from "../../../../operator/dead-store.js";
import { MOST_SUMMED } from "../../../../operator/dead-store.js";
import { bigint, columns, number, optional, text } from "../../client/columns.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import { foundSql, Parameters } from "./dead-filter.js";

interface EndpointValues {
  readonly endpointId: string;
  readonly count: number;
  readonly found: number;
  readonly upTo: bigint | undefined;
  readonly lanes: number;
  readonly blocking: number;
  readonly waitingBehind: number;
}

const ENDPOINT = columns<EndpointValues>({
  endpointId: text("consumer.public_id"),
  count: number("count(*)"),
  found: number("(select count(*) from found)"),
  upTo: optional(bigint("max(dead.id)")),
  // A lane has one endpoint: the sum over endpoints counts none twice.
  lanes: number("count(distinct dead.lane_id)"),
  blocking: number("count(behind)"),
  waitingBehind: number("coalesce(sum(behind), 0)"),
});

/** What the dead letters of a filter come to; the oldest hundred thousand of them are looked at. */
export async function readDeadSummary(
  { transactions, tables }: StoreDatabase,
  filter: DeadFilter,
): Promise<DeadSummary> {
  const { dead, consumer, laneState } = tables;
  const params = new Parameters();
  const picked = { limit: MOST_SUMMED + 1 };
  const found = foundSql({ ...filter, order: "oldest" }, picked, { params, tables });
  const { rows } = await transactions.read({
    text: `
      with ${found}, summed as materialized (
        select id from found order by died_at, id limit ${MOST_SUMMED}
      )
      select ${ENDPOINT.list}
      from summed join ${dead} as dead on dead.id = summed.id
      join ${consumer} as consumer on consumer.id = dead.consumer_id
      left join lateral (
        select next_seq - head_seq - 1 as behind from ${laneState} as state
        where state.lane_id = dead.lane_id and state.head_seq = dead.seq and state.state <> 'flowing'
      ) as blocked on true
      group by consumer.public_id order by count(*) desc, consumer.public_id`,
    params: params.values,
  });
  const endpoints = rows.map((row) => ENDPOINT.read(row));
  const sum = (of: (each: EndpointValues) => number): number =>
    endpoints.reduce((total, each) => total + of(each), 0);
  return {
    count: sum(({ count }) => count),
    more: (endpoints[0]?.found ?? 0) > MOST_SUMMED,
    upTo: endpoints.reduce<bigint | undefined>(
      (most, { upTo = 0n }) => (most === undefined || upTo > most ? upTo : most),
      undefined,
    ),
    lanes: sum(({ lanes }) => lanes),
    blocking: sum(({ blocking }) => blocking),
    waitingBehind: sum(({ waitingBehind }) => waitingBehind),
    endpoints: endpoints.map(({ endpointId, count }) => ({ endpointId, count })),
  };
}
