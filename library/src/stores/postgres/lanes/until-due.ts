import { textArray } from "../client/column-arrays.js";
import type { Claimable } from "../../../lanes/lane-store.js";
import { columns, number, optional } from "../client/columns.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";
import { waitingConsumersSql } from "./pick-due.js";

function firstIn(table: string): string {
  return `(
          select ready_at from ${table} as state
          where state.consumer_id = known.id and ready_at is not null order by ready_at limit 1
        )`;
}

/** When something is due next, of each active endpoint but those of $1: `soonest (at)`, of a recursive query. A lease counts by its end. */
export function soonestSql(tables: Tables): string {
  const { consumer, laneState, loose } = tables;
  return `${waitingConsumersSql({ name: "waiting", after: "-1", readyAt: "ready_at" }, tables)}, soonest as (
      select least(${firstIn(laneState)}, ${firstIn(loose)}) as at
      from waiting cross join lateral (
        select id, public_id, kind, state, removed_at from ${consumer} as consumer
        where consumer.id = waiting.consumer_id limit 1
      ) as known
      where known.kind = 'endpoint' and known.state = 'active' and known.removed_at is null
        and known.public_id <> all ($1::text[])
    )`;
}

/** The same of the handlers of $1; what waits for one that is paused for a time is due when that has passed. */
function soonestOfHandlersSql({ consumer, laneState, loose }: Tables): string {
  return `soonest as (
      select greatest(first.at, case when known.state = 'paused' then paused_until end) as at
      from ${consumer} as known
      cross join lateral (select least(${firstIn(laneState)}, ${firstIn(loose)}) as at) as first
      where known.public_id = any ($1::text[]) and known.kind = 'handler' and known.removed_at is null
        and (known.state = 'active' or known.state = 'paused' and paused_until is not null) and first.at is not null
    )`;
}

const UNTIL = columns<{ readonly ms: number | undefined }>({
  ms: optional(number("ceil(extract(epoch from min(at) - clock_timestamp()) * 1000)")),
});

/** Milliseconds until something is due, of active consumers alone, and not of endpoints that this process cannot serve. */
export async function readUntilDue(
  { transactions, tables }: StoreDatabase,
  of: Claimable,
  unserved: ReadonlySet<string>,
): Promise<number | undefined> {
  const params = [textArray(of.kind === "handler" ? of.ids : [...unserved])];
  const [row = []] = await transactions.readKept({ text: UNTIL_DUE[of.kind](tables), params });
  const { ms } = UNTIL.read(row);
  return ms === undefined ? undefined : Math.max(0, ms);
}

const UNTIL_DUE: Readonly<Record<Claimable["kind"], (tables: Tables) => string>> = {
  endpoint: sqlFor((tables) => untilDueSql(soonestSql(tables), tables)),
  handler: sqlFor((tables) =>
    untilDueSql(
      `${soonestOfHandlersSql(tables)}, ${longestHeldSql(tables)}`,
      tables,
      "union all select at from longest_held",
    ),
  ),
};

/** Until when the first of the held events waits for those before it. */
function longestHeldSql({ held }: Tables): string {
  return `longest_held as (select until as at from ${held} order by until limit 1)`;
}

function untilDueSql(soonest: string, { later }: Tables, alsoDue = ""): string {
  return `
    with recursive ${soonest}, due as (
      select at from soonest
      union all
      (select deliver_at as at from ${later} order by deliver_at limit 1)
      ${alsoDue}
    )
    select ${UNTIL.list} from due`;
}
