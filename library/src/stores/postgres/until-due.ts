import { waitingEndpointsSql } from "./claim-pick.js";
import type { OutboxTables } from "./outbox-tables.js";
import type { OwnTransactions } from "./own-transaction.js";

function firstIn(table: string): string {
  return `(
          select ready_at from ${table} as state
          where state.endpoint_id = known.id and ready_at is not null order by ready_at limit 1
        )`;
}

/** Milliseconds until something is due, of active endpoints alone; a lease counts by its end. */
export async function readUntilDue(
  transactions: OwnTransactions,
  tables: OutboxTables,
): Promise<number | undefined> {
  const { endpoint, laneState, loose, later } = tables;
  const text = `
    with recursive ${waitingEndpointsSql({ name: "waiting", after: "-1" }, tables)}, soonest as (
      select least(${firstIn(laneState)}, ${firstIn(loose)}) as at
      from waiting cross join lateral (
        select id, state, removed_at from ${endpoint} as endpoint where endpoint.id = waiting.endpoint_id limit 1
      ) as known
      where known.state = 'active' and known.removed_at is null
      union all
      (select deliver_at from ${later} order by deliver_at limit 1)
    )
    select ceil(extract(epoch from min(at) - clock_timestamp()) * 1000)::text from soonest`;
  const first = { text, params: [], prepared: true };
  const ms = await transactions.runFrom(first, (_scope, { rows }) => Promise.resolve(rows[0]?.[0]));
  return typeof ms === "string" ? Math.max(0, Number(ms)) : undefined;
}
