import { bigint, columns, millisecondsOf } from "../../client/columns.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import { sqlFor } from "../../schema/tables.js";

const BOUND = columns<{ readonly low: bigint }>({ low: bigint("low") });

/**
 * The number of the first event that was written at this time or later; one above the last where there is none. Numbers
 * are given when events are written, so that their order is that of the times, and a search by halves finds it: an index
 * by time would cost every event as much as the one by its id.
 */
export async function writtenBound({ transactions, tables }: StoreDatabase, at: Date): Promise<bigint> {
  const [row = []] = await transactions.readKept({ text: SEARCH(tables), params: [String(at.getTime())] });
  return BOUND.read(row).low;
}

const SEARCH = sqlFor(
  ({ event }) => `
    with recursive search (low, high, step) as (
      select coalesce(min(id), 1), coalesce(max(id), 0) + 1, 0 from ${event}
      union all
      select case when is_before then middle.id + 1 else low end,
        case when is_before then high else (low + high) / 2 end, step + 1
      from search cross join lateral (
        select id, ${millisecondsOf("written_at")} < $1::text::int8 as is_before from ${event} where id >= (low + high) / 2 order by id limit 1
      ) as middle
      -- By halves, no table has more steps.
      where low < high and step < 64
    )
    select ${BOUND.list} from search order by step desc limit 1`,
);
