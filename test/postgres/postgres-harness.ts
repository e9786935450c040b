import { postgresDedup, postgresStore } from "posthorn/postgres";
import type { CursorHarness, DedupBench, DedupHarness, InboxBench, InboxHarness } from "posthorn/testing";
import type { Driver, TestPool } from "./drivers.js";
import type { LossyProxy } from "./lossy-proxy.js";

const capabilities = {
  sharesHostTransaction: true,
  survivesPowerLoss: true,
  multiProcess: true,
  clock: "store",
} as const;

const HOUR_S = 3600;
// The default of the test pools.
const CONNECTIONS = 10;

/** Each case finds the table empty. */
export function postgresCursorHarness(driver: Driver, url: string): CursorHarness {
  const [one, two] = [driver.open(url), driver.open(url)];
  return {
    capabilities,
    async open() {
      await one.rows("delete from posthorn.repair_cursor");
      return {
        stores: [postgresStore({ client: one.client }), postgresStore({ client: two.client })],
        close: () => Promise.resolve(),
      };
    },
  };
}

/** Two pools on one database stand for two processes: to Postgres they are. */
export function postgresDedupHarness(driver: Driver, url: string): DedupHarness {
  let cases = 0;
  const [one, two, host] = [driver.open(url), driver.open(url), driver.open(url)];
  return {
    capabilities,
    exactTime: false,
    oneWriter: driver.oneConnection === true,
    async open(): Promise<DedupBench> {
      // A table for each case, instead of a database: it is 20 times as fast, and as empty.
      const tableName = `dedup_${++cases}`;
      const adapters = [one, two].map(({ client }) => postgresDedup({ client, tableName }));
      // On both: to connect for the first time may take longer than an id is waited for.
      for (const { client } of [one, two]) await postgresDedup({ client, tableName }).migrate();
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
            adapter: host.dedupIn
              ? postgresDedup({ ...host.dedupIn(transaction.client), tableName })
              : postgresDedup({ tx: transaction.client, tableName }),
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

/** The tables are emptied for each case; the stores are new, as after a start of their processes. */
export function postgresInboxHarness(driver: Driver, url: string, proxy?: LossyProxy): InboxHarness<never> {
  const [one, two, host] = [driver.open(url), driver.open(url), driver.open(url)];
  return {
    capabilities,
    transactions: "asynchronous",
    exactTime: false,
    listsRefused: true,
    runsStatements: true,
    saturates: true,
    losesAnswers: proxy !== undefined,
    oneConnection: driver.oneConnection === true,
    async open(): Promise<InboxBench<never>> {
      await host.rows("create table if not exists effect (mark text not null)");
      await host.rows("truncate effect, posthorn.inbox, posthorn.inbox_attempt, posthorn.inbox_refused");
      return {
        stores: [one, two].map(({ client }) => postgresStore({ client })),
        time: { tickS: HOUR_S, pass: (ms) => moveIntoPast(host, ms) },
        async write(tx, mark) {
          await host.inside(tx, `insert into effect (mark) values ('${mark}')`);
        },
        written: async () => (await host.rows("select mark from effect")).map(({ mark }) => mark ?? ""),
        async run(tx, statement) {
          await host.inside(tx, statement === "broken" ? "select 1 / 0" : statement);
        },
        async saturate() {
          const length = driver.oneConnection === true ? 1 : CONNECTIONS;
          const taken = await Promise.all(Array.from({ length }, () => one.begin()));
          return async () => void (await Promise.all(taken.map((transaction) => transaction.rollback())));
        },
        ...(proxy && { unanswered: unansweredStore(driver, proxy) }),
        refused: () => refusedIn(host),
        close: () => Promise.resolve(),
      };
    },
  };
}

/** Armed in the handler, when its transaction has begun: the words "read committed" hold the word, too. */
function unansweredStore(driver: Driver, proxy: LossyProxy): NonNullable<InboxBench<never>["unanswered"]> {
  const { client } = driver.open(proxy.url, { max: 1 });
  return { store: postgresStore({ client }), arm: () => proxy.loseAnswerTo(driver.commit ?? "commit") };
}

async function moveIntoPast(host: TestPool, ms: number): Promise<void> {
  const past = (column: string) => `${column} = ${column} - ${ms} * interval '1 millisecond'`;
  const columns = ["received_at", "last_received_at", "keep_until"].map((column) => past(column));
  await host.rows(`update posthorn.inbox set ${columns.join(", ")}`);
}

async function refusedIn(host: TestPool): ReturnType<NonNullable<InboxBench["refused"]>> {
  const rows = await host.rows(
    "select event_id, because, encode(body, 'hex') as body from posthorn.inbox_refused",
  );
  return rows.map(({ event_id = "", because, body = "" }) => ({
    id: event_id,
    because: because === "stale" ? "stale" : "conflict",
    body: new Uint8Array(Buffer.from(body, "hex")),
  }));
}
