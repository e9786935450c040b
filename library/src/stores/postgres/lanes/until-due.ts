import { waitingEndpointsSql } from "./pick-due.js";
import { textArray } from "../client/column-arrays.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import type { OwnTransactions } from "../client/own-transaction.js";

function firstIn(table: string): string {
  return `(
          select ready_at from ${table} as state
          where state.endpoint_id = known.id and ready_at is not null order by ready_at limit 1
        )`;
}

/** When something is due next, of each active endpoint but those of $1: `soonest (at)`, of a recursive query. A lease counts by its end. */
export function soonestSql(tables: OutboxTables): string {
  const { endpoint, laneState, loose } = tables;
  const walk = waitingEndpointsSql({ name: "waiting", after: "-1" }, tables);
  return `${walk}, soonest as (
      select least(${firstIn(laneState)}, ${firstIn(loose)}) as at
      from waiting cross join lateral (
        select id, public_id, state, removed_at from ${endpoint} as endpoint where endpoint.id = waiting.endpoint_id limit 1
      ) as known
      where known.state = 'active' and known.removed_at is null and known.public_id <> all ($1::text[])
    )`;
}

/** Milliseconds until something is due, of active endpoints alone, and not of those that this process cannot serve; a lease counts by its end. */
export async function readUntilDue(
  transactions: OwnTransactions,
  unserved: ReadonlySet<string>,
  tables: OutboxTables,
): Promise<number | undefined> {
  const text = `
    with recursive ${soonestSql(tables)}, due as (
      select at from soonest
      union all
      (select deliver_at from ${tables.later} order by deliver_at limit 1)
    )
    select ceil(extract(epoch from min(at) - clock_timestamp()) * 1000)::text from due`;
  const first = { text, params: [textArray([...unserved])], prepared: true };
  const ms = await transactions.runFrom(first, (_scope, { rows }) => Promise.resolve(rows[0]?.[0]));
  return typeof ms === "string" ? Math.max(0, Number(ms)) : undefined;
}
