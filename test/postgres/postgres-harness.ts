import { postgresDedup } from "posthorn/postgres";
import type { DedupBench, DedupHarness } from "posthorn/testing";
import type { Driver } from "./drivers.js";

const capabilities = {
  sharesHostTransaction: true,
  survivesPowerLoss: true,
  multiProcess: true,
  clock: "store",
} as const;

const HOUR_S = 3600;

/** Two pools on one database stand for two processes: to Postgres they are. */
export function postgresDedupHarness(driver: Driver, url: string): DedupHarness {
  let cases = 0;
  const [one, two, host] = [driver.open(url), driver.open(url), driver.open(url)];
  return {
    capabilities,
    exactTime: false,
    async open(): Promise<DedupBench> {
      // A table for each case, instead of a database: it is 20 times as fast, and as empty.
      const tableName = `dedup_${++cases}`;
      const adapters = [one, two].map(({ client }) => postgresDedup({ client, tableName }));
      await postgresDedup({ client: one.client, tableName }).migrate();
      const open = new Set<() => Promise<void>>();
      return {
        adapters,
        time: {
          tickS: HOUR_S,
          async pass(ms) {
            const past = `expires_at - ${ms} * interval '1 millisecond'`;
            await host.rows(`update posthorn.${tableName} set expires_at = ${past}`);
          },
        },
        async begin() {
          const transaction = await host.begin();
          open.add(transaction.rollback);
          const end = (how: () => Promise<void>) => () => {
            open.delete(transaction.rollback);
            return how();
          };
          return {
            adapter: postgresDedup({ client: transaction.client, tableName }),
            commit: end(transaction.commit),
            rollback: end(transaction.rollback),
          };
        },
        async close() {
          await Promise.all([...open].map((rollback) => rollback()));
          await host.rows(`drop table posthorn.${tableName}`);
        },
      };
    },
  };
}
