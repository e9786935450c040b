import type { OutboxCensus } from "../../../operator/lookup-store.js";
import { soonestSql } from "../lanes/until-due.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import type { OwnTransactions } from "../client/own-transaction.js";

// Up to here things are counted; a table with more is told by Postgres' own estimate, or as this many.
const MAX_COUNTED = 100_000;

/**
 * How much waits. Exact up to 100,000 of each kind: to count more would take seconds, which whoever reads metrics every
 * few seconds does not have. Above that, `staged` and `waiting` are the estimates that Postgres keeps of its tables, and
 * `blockedLanes` and `dead` stay at 100,000.
 */
export async function readCensus(transactions: OwnTransactions, tables: OutboxTables): Promise<OutboxCensus> {
  const { stage, later, delivery, loose, laneState, dead, endpoint } = tables;
  const text = `
    with recursive ${soonestSql(tables)}, counted as (
      select ${counted(`${stage} order by id`)} as staged,
        ${counted(`${later} order by deliver_at, event_id`)} as later,
        ${counted(`${delivery} order by lane_id, seq`)} as placed,
        ${counted(`${loose} where ready_at is not null order by endpoint_id, ready_at`)} as loose,
        ${counted(`${laneState} where blocked_at is not null order by blocked_at, lane_id`)} as blocked,
        ${counted(`${laneState} where blocked_at is not null and state <> 'flowing' order by blocked_at, lane_id`)}
          as stopped,
        ${counted(`${dead} as dead where redriven_at is null and exists (
          select from ${endpoint} as endpoint where endpoint.id = dead.endpoint_id and removed_at is null
        ) order by dead.id`)} as dead
    )
    select ${orEstimated("staged", stage)}, ${orEstimated("later", later)}, ${orEstimated("placed", delivery)}, ${orEstimated("loose", loose)},
      blocked::text, stopped::text, dead::text,
      (select greatest(0, extract(epoch from clock_timestamp() - min(at)) * 1000)::int8::text from soonest)
    from counted`;
  const first = { text, params: ["{}"], prepared: true };
  const [row = []] = await transactions.runFrom(first, (_scope, { rows }) => Promise.resolve(rows));
  const [staged, putOff, placed, looseCount, blocked, stopped, deadCount, oldestDueMs] = row.map(Number);
  return {
    staged: (staged ?? 0) + (putOff ?? 0),
    // The head of a lane that stands still is dead, and waits for nothing.
    waiting: Math.max(0, (placed ?? 0) + (looseCount ?? 0) - (stopped ?? 0)),
    oldestDueMs: oldestDueMs ?? 0,
    blockedLanes: blocked ?? 0,
    dead: deadCount ?? 0,
  };
}

function counted(rows: string): string {
  return `(select count(*) from (select from ${rows} limit ${MAX_COUNTED}) as counted)`;
}

function orEstimated(count: string, table: string): string {
  return `case when ${count} < ${MAX_COUNTED} then ${count}
      else greatest(${count}, pg_stat_get_live_tuples('${table}'::regclass)) end::text`;
}
