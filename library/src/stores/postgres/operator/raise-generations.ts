import { bigint, columns, number, optional } from "../client/columns.js";
import type { Session } from "../client/database.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";

// A million lanes in one statement took longer than a statement may.
const LANES_AT_ONCE = 10_000;

interface PageValues {
  readonly lanes: number;
  readonly last: bigint | undefined;
}

const PAGE = columns<PageValues>({ lanes: number("lanes"), last: optional(bigint("last_id")) });

/**
 * Raises the generation of every lane, and of those that are made from now on. Lanes are raised in steps; where it is killed
 * between two, the next call raises all of them to a higher one.
 */
export async function raiseGenerations({ transactions, tables }: StoreDatabase): Promise<number> {
  // First, so that a lane that is made while the others are raised has no lower generation than they.
  const generation = await transactions.run((session) => raiseNew(session, tables));
  let lanes = 0;
  for (let after: bigint | undefined = 0n; after !== undefined;) {
    const params: readonly string[] = [String(generation), String(after)];
    const page = await transactions.run(async (session) => {
      const { rows } = await session.query({ text: RAISE(tables), params, prepared: true });
      return PAGE.read(rows[0] ?? []);
    });
    lanes += page.lanes;
    after = page.last;
  }
  return lanes;
}

// By the clock, and not by one: the backup may be older than generations that receivers have seen since.
async function raiseNew(session: Session, { outboxConfig }: Tables): Promise<bigint> {
  const { rows } = await session.query({
    text: `
      update ${outboxConfig}
      set generation = greatest(generation + 1, (extract(epoch from clock_timestamp()) * 1000)::int8)
      returning generation::text`,
    params: [],
  });
  return BigInt(String(rows[0]?.[0]));
}

const RAISE = sqlFor(
  ({ lane }) => `
    with page as materialized (
      select lane_id from ${lane} where lane_id > $2::text::int8 order by lane_id limit ${LANES_AT_ONCE}
    ), raised as (
      update ${lane} as lane set generation = $1::text::int8
      from page where lane.lane_id = page.lane_id and generation < $1::text::int8
    )
    select ${PAGE.list} from (select count(*) as lanes, max(lane_id) as last_id from page) as page`,
);
