import type { Claim } from "../../../lanes/lane-store.js";
import { released } from "../../../lanes/lane.js";
import { numberArray } from "../client/column-arrays.js";
import type { Statement } from "../client/database.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { sqlFor } from "../schema/tables.js";
import { LANE_COLUMNS, lockedLanesOf, LOOSE_COLUMNS, readLockedSql } from "./lane-row.js";
import { NOBODY, writeTurns } from "./lane-write.js";
import { recordEnded } from "./record-ended.js";
import { unleasedTurn } from "./run.js";

// Few enough that nobody waits long for the locks of one transaction.
const AT_ONCE = 500;

type Leased = Pick<Claim, "kind" | "id">;

/** Gives back what a worker has leased and does not hold, and says how many. */
export async function release(
  { transactions, tables }: StoreDatabase,
  worker: string,
  held: readonly Leased[],
): Promise<number> {
  let count = 0;
  for (const [kind, lock] of [["lane", LOCK_LANES] as const, ["loose", LOCK_LOOSE] as const]) {
    const ids = held.filter((each) => each.kind === kind).map(({ id }) => id);
    const first: Statement = { text: lock(tables), params: [worker, numberArray(ids)], prepared: true };
    for (let some = AT_ONCE; some === AT_ONCE;) {
      some = await releaseSome({ transactions, tables }, first);
      count += some;
    }
  }
  return count;
}

function releaseSome({ transactions, tables }: StoreDatabase, lock: Statement): Promise<number> {
  return transactions.runFrom(lock, async (scope, { rows }) => {
    const locked = [...lockedLanesOf(rows).values()];
    if (locked.length === 0) return 0;
    const turns = locked.map((each) => unleasedTurn(each, released(each.lane)));
    await recordEnded(scope, turns, tables);
    scope.closing = writeTurns(turns, NOBODY, tables);
    return locked.length;
  });
}

// Found by the index of who has leased what, and sorted then: in the order of their ids, as everyone locks them, Postgres
// would rather walk over all lanes. Who has leased a lane is looked at again under its lock;
// `is not distinct from` keeps Postgres from entering the table by the same index again, for each lane anew.
const LOCK_LANES = sqlFor(
  (tables) => `
    with mine as materialized (
      select lane_id from ${tables.laneState} where leased_by = $1::text and lane_id <> all ($2::int8[])
    ), locked as materialized (
      select row_number() over () as n, null::int8 as read_from, 0 as read_max, state.*
      from (select lane_id from mine order by lane_id limit ${AT_ONCE}) as mine cross join lateral (
        select ${LANE_COLUMNS}
        from ${tables.laneState} as state where state.lane_id = mine.lane_id and leased_by is not distinct from $1::text
        for update
      ) as state
    )
    ${readLockedSql("locked", tables)}`,
);

const LOCK_LOOSE = sqlFor(
  (tables) => `
    with mine as materialized (
      select id from ${tables.loose} where leased_by = $1::text and id <> all ($2::int8[])
    ), locked as materialized (
      select row_number() over () as n, null::int8 as read_from, 0 as read_max, loose.*
      from (select id as loose_id from mine order by id limit ${AT_ONCE}) as mine cross join lateral (
        select ${LOOSE_COLUMNS}
        from ${tables.loose} as loose where loose.id = mine.loose_id and leased_by is not distinct from $1::text
        for update
      ) as loose
    )
    ${readLockedSql("locked", tables)}`,
);
