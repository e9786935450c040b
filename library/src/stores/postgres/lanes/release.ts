import type { Claim } from "../../../lanes/lane-store.js";
import { numberArray } from "../client/column-arrays.js";
import type { Session } from "../client/database.js";
import type { KnownLeases } from "./known-leases.js";
import { nameOf } from "./known-leases.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import type { OwnTransactions } from "../client/own-transaction.js";

// Few enough that nobody waits long for the locks of one transaction.
const AT_ONCE = 500;

type Leased = Pick<Claim, "kind" | "id">;

export interface ReleaseParts {
  readonly transactions: OwnTransactions;
  readonly leases: KnownLeases;
  readonly tables: OutboxTables;
}

/** Gives back what a worker has leased and does not hold, and says how many. Under the next epoch: what it may still settle of them is stale. */
export async function releaseLeases(
  { transactions, leases, tables }: ReleaseParts,
  worker: string,
  held: readonly Leased[],
): Promise<number> {
  const known = leases.of(worker);
  const released: Released = { transactions, worker, held };
  if (known === undefined) {
    return (
      (await releaseFound(released, laneRows(tables))) + (await releaseFound(released, looseRows(tables)))
    );
  }
  const holds = new Set(held.map(nameOf));
  const given = known.filter((lease) => !holds.has(nameOf(lease)));
  const count =
    (await releaseKnown(released, laneRows(tables), given)) +
    (await releaseKnown(released, looseRows(tables), given));
  for (const lease of given) leases.drop(worker, lease);
  return count;
}

interface Released {
  readonly transactions: OwnTransactions;
  readonly worker: string;
  readonly held: readonly Leased[];
}

interface LeasedRows {
  readonly kind: Claim["kind"];
  readonly table: string;
  /** The column of its ids. */
  readonly id: string;
}

function laneRows({ laneState }: OutboxTables): LeasedRows {
  return { kind: "lane", table: laneState, id: "lane_id" };
}

function looseRows({ loose }: OutboxTables): LeasedRows {
  return { kind: "loose", table: loose, id: "id" };
}

async function releaseKnown(
  { transactions, worker }: Released,
  rows: LeasedRows,
  given: readonly Leased[],
): Promise<number> {
  const ids = given.filter(({ kind }) => kind === rows.kind).map(({ id }) => id);
  // In the order in which everyone locks them.
  ids.sort((a, b) => (a < b ? -1 : 1));
  const mine = `
        select state.id from unnest($2::int8[]) with ordinality as given (id, n) cross join lateral (
          select ${rows.id} as id from ${rows.table} as state
          where state.${rows.id} = given.id and leased_by = $1::text and ready_at is not null for update
        ) as state`;
  let released = 0;
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const params = [worker, numberArray(ids.slice(from, from + AT_ONCE))];
    released += await transactions.run((session) => releaseRows(session, rows, { mine, params }));
  }
  return released;
}

// No index knows who has leased what. Not prepared, so that it is planned for the tables as they are: a worker of another
// process is released by nobody but a person.
async function releaseFound({ transactions, worker, held }: Released, rows: LeasedRows): Promise<number> {
  const ids = held.filter(({ kind }) => kind === rows.kind).map(({ id }) => id);
  const mine = `
        select ${rows.id} as id from ${rows.table}
        where leased_by = $1::text and ready_at is not null and not ${rows.id} = any ($2::int8[])
        order by ${rows.id} limit ${AT_ONCE} for update`;
  const params = [worker, numberArray(ids)];
  for (let released = 0; ;) {
    const count = await transactions.run((session) => releaseRows(session, rows, { mine, params }), "fresh");
    released += count;
    if (count < AT_ONCE) return released;
  }
}

async function releaseRows(
  session: Session,
  { table, id }: LeasedRows,
  { mine, params }: { readonly mine: string; readonly params: readonly string[] },
): Promise<number> {
  const { rows } = await session.query({
    text: `
      with mine as materialized (${mine}
      ), released as (
        update ${table} as state set epoch = epoch + 1, leased_by = null, leased_until = null,
          ready_at = clock_timestamp()
        from mine where state.${id} = mine.id returning 1
      )
      select count(*)::text from released`,
    params,
  });
  return Number(rows[0]?.[0] ?? 0);
}
