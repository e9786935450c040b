import type { Claim } from "../../delivery/delivery-store.js";
import { numberArray } from "./column-arrays.js";
import type { Session } from "./database.js";
import type { OutboxTables } from "./outbox-tables.js";
import type { OwnTransactions } from "./own-transaction.js";

// Few enough that nobody waits long for the locks of one transaction.
const AT_ONCE = 500;

/** Gives back what a worker has leased and does not hold, and says how many. Under the next epoch: what it may still settle of them is stale. */
export async function releaseLeases(
  transactions: OwnTransactions,
  { worker, held }: { readonly worker: string; readonly held: readonly Pick<Claim, "kind" | "id">[] },
  { laneState, loose }: OutboxTables,
): Promise<number> {
  const release = (table: string, id: string, kind: Claim["kind"]): Promise<number> => {
    const ids = held.filter((claim) => claim.kind === kind).map((claim) => claim.id);
    return inParts(transactions, (session) => releasePart(session, { table, id, worker, held: ids }));
  };
  return (await release(laneState, "lane_id", "lane")) + (await release(loose, "id", "loose"));
}

async function inParts(
  transactions: OwnTransactions,
  part: (session: Session) => Promise<number>,
): Promise<number> {
  for (let released = 0; ;) {
    const count = await transactions.run(part, "fresh");
    released += count;
    if (count < AT_ONCE) return released;
  }
}

interface Part {
  readonly table: string;
  /** The column of its ids. */
  readonly id: string;
  readonly worker: string;
  readonly held: readonly bigint[];
}

// No index knows who has leased what: it would cost every claim and settlement, and this is rare. Not prepared, so that
// it is planned for the tables as they are.
async function releasePart(session: Session, { table, id, worker, held }: Part): Promise<number> {
  const { rows } = await session.query({
    text: `
      with mine as materialized (
        select ${id} as id from ${table}
        where leased_by = $1::text and ready_at is not null and not ${id} = any ($2::int8[])
        order by ${id} limit ${AT_ONCE} for update
      ), released as (
        update ${table} as state set epoch = epoch + 1, leased_by = null, leased_until = null,
          ready_at = clock_timestamp()
        from mine where state.${id} = mine.id returning 1
      )
      select count(*)::text from released`,
    params: [worker, numberArray(held)],
  });
  return Number(rows[0]?.[0] ?? 0);
}
