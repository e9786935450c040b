import type { DeadGroupFilter } from "../../../../operator/dead-filter.js";
import type { DeadGroup } from "../../../../operator/dead-store.js";
import { columns, instant, number, optional, text } from "../../client/columns.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import { sqlFor } from "../../schema/tables.js";
import { countedSql, groupConditions, OF_GROUP, ofTenant, Parameters } from "./dead-filter.js";

const GROUP = columns<DeadGroup>({
  tenant: text("groups.tenant"),
  endpointId: text("groups.public_id"),
  because: text("groups.because"),
  status: optional(number("nullif(groups.status, 0)")),
  error: optional(text("nullif(groups.error, '')")),
  count: number("groups.found"),
  firstAt: instant("first.died_at"),
  lastAt: instant("last.died_at"),
});

/** Dead letters that died alike, by their counters; largest group first. */
export async function listDeadGroups(
  { transactions, tables }: StoreDatabase,
  filter: DeadGroupFilter,
): Promise<readonly DeadGroup[]> {
  await foldChanges({ transactions, tables });
  const { dead, consumer } = tables;
  const params = new Parameters();
  const mine = ofTenant(filter.tenant, params, tables);
  // A handler's groups are counted for all tenants: those of one are counted one by one.
  const count =
    filter.tenant === undefined
      ? "groups.count"
      : `case groups.kind when 'handler' then (select count(*) from ${dead} as dead where ${OF_GROUP}${mine})
        else groups.count end`;
  const ended = (order: string): string => `(
        select died_at from ${dead} as dead where ${OF_GROUP}${mine} order by died_at ${order}, id ${order} limit 1
      )`;
  const { rows } = await transactions.read({
    text: `
      with groups as materialized (
        select counted.*, consumer.kind, consumer.tenant, consumer.public_id from ${countedSql(tables)} as counted
        join ${consumer} as consumer on consumer.id = counted.consumer_id
        where ${groupConditions(filter, params)}
      )
      select ${GROUP.list} from (select *, ${count} as found from groups) as groups
      cross join lateral ${ended("asc")} as first cross join lateral ${ended("desc")} as last
      order by groups.found desc, groups.public_id, groups.because`,
    params: params.values,
  });
  return rows.map((row) => GROUP.read(row));
}

// Few enough that nobody waits long; many enough that a million deaths are folded by a hundred statements.
const AT_ONCE = 10_000;
// Fewer than these are quicker summed than folded.
const WORTH_IT = 200;

/**
 * Adds what was written since the last time into the groups. Changes that another reader is folding are left to it; groups
 * are locked in one order, so that two readers never wait for each other in a circle.
 */
export async function foldChanges({ transactions, tables }: StoreDatabase): Promise<void> {
  const { rows } = await transactions.read({
    text: `select count(*)::text as count from (select from ${tables.deadChange} limit ${WORTH_IT}) as unfolded`,
    params: [],
  });
  if (Number(rows[0]?.[0] ?? 0) < WORTH_IT) return;
  let folded: number;
  do {
    folded = await transactions.run(async (session) => {
      const answer = await session.query({ text: FOLD(tables), params: [] });
      await session.query({ text: `delete from ${tables.deadGroup} where count = 0`, params: [] });
      return Number(answer.rows[0]?.[0] ?? 0);
    }, "fresh");
  } while (folded === AT_ONCE);
}

const FOLD = sqlFor(
  ({ deadGroup, deadChange }) => `
    with taken as materialized (
      select id from ${deadChange} order by id limit ${AT_ONCE} for update skip locked
    ), gone as (
      delete from ${deadChange} as change using taken where change.id = taken.id
      returning change.consumer_id, change.because, change.status, change.error, change.change
    ), folded as (
      insert into ${deadGroup} as known (consumer_id, because, status, error, count)
      select consumer_id, because, status, error, sum(change) from gone
      group by consumer_id, because, status, error order by consumer_id, because, status, error
      on conflict (consumer_id, because, status, error) do update set count = known.count + excluded.count
    )
    select count(*)::text as count from taken`,
);
