import type { ForgetLimits } from "../../../outbox/ingest-store.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import type { OwnTransactions } from "../client/own-transaction.js";

// Few enough that nobody who takes events in waits long for one of them.
const AT_ONCE = 1000;

/** Forgets names whose window has passed, oldest first, and says how many. One that is being renewed stays. */
export async function forgetOldNames(
  transactions: OwnTransactions,
  { maxNames }: ForgetLimits,
  { name }: OutboxTables,
): Promise<number> {
  for (let forgotten = 0; ;) {
    const limit = Math.min(AT_ONCE, maxNames - forgotten);
    if (limit <= 0) return forgotten;
    const statement = {
      text: `
        with gone as (
          delete from ${name} where ctid = any (array(
            select ctid from ${name} where keep_until <= (select clock_timestamp())
            order by keep_until limit $1::text::int8 for update skip locked
          )) returning 1
        )
        select count(*)::text from gone`,
      params: [String(limit)],
      prepared: true,
    };
    const count = await transactions.runFrom(statement, (_scope, { rows }) =>
      Promise.resolve(Number(rows[0]?.[0] ?? 0)),
    );
    forgotten += count;
    if (count < limit) return forgotten;
  }
}
