import type { ForgetLimits } from "../../../outbox/ingest-store.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { sqlFor } from "../schema/tables.js";

// Few enough that nobody who takes events in waits long for one of them.
const AT_ONCE = 1000;

/** Forgets names whose window has passed, oldest first, and says how many. A name that is being renewed stays. */
export async function forgetNames(
  { transactions, tables }: StoreDatabase,
  { maxNames }: ForgetLimits,
): Promise<number> {
  for (let forgotten = 0; ;) {
    const limit = Math.min(AT_ONCE, maxNames - forgotten);
    if (limit <= 0) return forgotten;
    const [row] = await transactions.readKept({ text: FORGET(tables), params: [String(limit)] });
    const count = Number(row?.[0] ?? 0);
    forgotten += count;
    if (count < limit) return forgotten;
  }
}

const FORGET = sqlFor(
  ({ ingestName }) => `
    with gone as (
      delete from ${ingestName} where ctid = any (array(
        select ctid from ${ingestName} where keep_until <= (select clock_timestamp())
        order by keep_until limit $1::text::int8 for update skip locked
      )) returning 1
    )
    select count(*)::text as count from gone`,
);
