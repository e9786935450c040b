import type { StoreDatabase } from "../client/own-transaction.js";

/** Raises the generation of every lane, and of those that are made from now on. */
export function raiseGenerations({ transactions, tables }: StoreDatabase): Promise<number> {
  return transactions.run(async (session) => {
    // By the clock, and not by one: the backup may be older than generations that receivers have seen since.
    await session.query({
      text: `
        update ${tables.outboxConfig}
        set generation = greatest(generation + 1, (extract(epoch from clock_timestamp()) * 1000)::int8)`,
      params: [],
    });
    const { rows } = await session.query({
      text: `
        with raised as (
          update ${tables.lane} set generation = (select generation from ${tables.outboxConfig} where one)
          returning 1
        )
        select count(*)::text from raised`,
      params: [],
    });
    return Number(rows[0]?.[0] ?? 0);
  });
}
