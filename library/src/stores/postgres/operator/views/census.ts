import type { OutboxCensus } from "../../../../operator/lookup-store.js";
import { columns, number, optional } from "../../client/columns.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import { soonestSql } from "../../lanes/until-due.js";
import type { Tables } from "../../schema/tables.js";
import { sqlFor } from "../../schema/tables.js";

// Up to here rows are counted; of a table with more, Postgres' own estimate is told, or this many.
const MAX_COUNTED = 100_000;

interface Counts {
  readonly staged: number;
  readonly putOff: number;
  readonly held: number;
  readonly placed: number;
  readonly loose: number;
  readonly blocked: number;
  readonly stopped: number;
  readonly dead: number;
  readonly setAside: number;
  readonly oldestDueMs: number | undefined;
}

function countsIn({ stage, later, held, delivery, loose }: Tables) {
  return columns<Counts>({
    staged: number(orEstimated("staged", stage)),
    putOff: number(orEstimated("put_off", later)),
    held: number(orEstimated("held", held)),
    placed: number(orEstimated("placed", delivery)),
    loose: number(orEstimated("loose", loose)),
    blocked: number("blocked"),
    stopped: number("stopped"),
    dead: number("dead"),
    setAside: number("set_aside"),
    oldestDueMs: optional(
      number("select greatest(0, extract(epoch from clock_timestamp() - min(at)) * 1000)::int8 from soonest"),
    ),
  });
}

/**
 * How much waits. Exact up to 100,000 of each kind: to count more would take seconds, which whoever reads metrics every
 * few seconds does not have. Above that, `staged` and `waiting` are the estimates that Postgres keeps of its tables, and
 * `blockedLanes`, `dead` and `setAside` stay at 100,000.
 */
export async function readCensus({ transactions, tables }: StoreDatabase): Promise<OutboxCensus> {
  const [row = []] = await transactions.readKept({ text: CENSUS(tables), params: ["{}"] });
  const counts = countsIn(tables).read(row);
  return {
    staged: counts.staged + counts.putOff + counts.held,
    held: counts.held,
    // The head of a lane that stands still is dead, and waits for nothing.
    waiting: Math.max(0, counts.placed + counts.loose - counts.stopped),
    oldestDueMs: counts.oldestDueMs ?? 0,
    blockedLanes: counts.blocked,
    dead: counts.dead,
    setAside: counts.setAside,
  };
}

const CENSUS = sqlFor((tables) => {
  const { stage, stageDead, later, held, delivery, loose, laneState, dead, consumer } = tables;
  const blocked = `${laneState} where blocked_at is not null`;
  return `
    with recursive ${soonestSql(tables)}, counted as (
      select ${counted(`${stage} order by tenant, id`)} as staged,
        ${counted(`${later} order by deliver_at, event_id`)} as put_off,
        ${counted(`${held} order by until`)} as held,
        ${counted(`${delivery} order by lane_id, seq`)} as placed,
        ${counted(`${loose} where ready_at is not null order by consumer_id, ready_at`)} as loose,
        ${counted(`${blocked} order by blocked_at, lane_id`)} as blocked,
        ${counted(`${blocked} and state <> 'flowing' order by blocked_at, lane_id`)} as stopped,
        ${counted(`${dead} as dead where resolved_at is null and exists (
          select from ${consumer} as consumer where consumer.id = dead.consumer_id and removed_at is null
        ) order by died_at, dead.id`)} as dead,
        ${counted(`${stageDead} where resolved_at is null order by id`)} as set_aside
    )
    select ${countsIn(tables).list} from counted`;
});

function counted(rows: string): string {
  return `(select count(*) from (select from ${rows} limit ${MAX_COUNTED}) as counted)`;
}

function orEstimated(count: string, table: string): string {
  return `case when ${count} < ${MAX_COUNTED} then ${count}
      else greatest(${count}, pg_stat_get_live_tuples('${table}'::regclass)) end`;
}
