import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { migrate } from "posthorn/postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createChance } from "../chance.js";
import { startPostgres } from "../services/postgres-server.js";
import type { PostgresServer } from "../services/postgres-server.js";
import { CRASH_SEED, CRASH_TIMES } from "./campaign.js";
import { Load } from "./load.js";
import type { PostgresDatabase } from "./postgres-database.js";
import { createPostgresDatabase, openPostgresDatabase } from "./postgres-database.js";
import { expectKept, Run } from "./run.js";
import { Supervisor } from "./supervisor.js";

const chance = createChance(CRASH_SEED);
const SESSIONS = 40 * CRASH_TIMES;

const drivers = ["pg", "postgres"] as const;
// A host that runs `sql.begin` of `postgres` itself is ended by the driver when a session is, with or without Posthorn.
const workloads = { pg: ["receiver", "dedup"], postgres: ["receiver"] } as const;

describe.each(drivers)("a server that ends sessions of %s at random, under load", (driver) => {
  let database: PostgresDatabase;
  beforeAll(async () => void (database = await createPostgresDatabase()));
  afterAll(() => database.close());

  it.each(workloads[driver])(
    "%s: everything is applied once, and no session or lock is left over",
    { timeout: 60_000 + CRASH_TIMES * 10_000 },
    async (workload) => {
      const supervisor = new Supervisor({ ...database.options, driver });
      const run = new Run({ database, supervisor, scope: `terminate${driver}${workload}` });
      try {
        const load = new Load(run, workload, chance);
        for (let ended = 0; ended < SESSIONS; ended += await terminateOne(database))
          await sleep(chance.below(100));
        await load.drain();
        expectKept(await run.end(), `${SESSIONS} sessions ended, seed ${CRASH_SEED}`);
        expect(run.ends).toEqual([]);
        expect(await leftovers(database)).toEqual({ tooMany: false, in_transaction: 0, locks: 0 });
      } finally {
        run.close();
        await supervisor.stop();
      }
    },
  );
});

async function terminateOne({ pool }: PostgresDatabase): Promise<number> {
  const { rowCount } = await pool.query(
    `select pg_terminate_backend(pid) from (
       select pid from pg_stat_activity where application_name = 'posthorn-crash' and datname = current_database()
       order by random() limit 1
     ) as victim`,
  );
  return rowCount ?? 0;
}

async function leftovers({ pool }: PostgresDatabase): Promise<object> {
  const { rows } = await pool.query<{ sessions: number; in_transaction: number; locks: number }>(
    `select count(*)::int as sessions, (count(*) filter (where state like 'idle in transaction%'))::int as in_transaction,
       (select count(*)::int from pg_locks join pg_database on pg_database.oid = database
        where locktype = 'advisory' and datname = current_database()) as locks
     from pg_stat_activity where application_name = 'posthorn-crash' and datname = current_database()`,
  );
  const { sessions = 0, ...rest } = rows[0] ?? {};
  return { tooMany: sessions > 10, ...rest };
}

describe("a server that crashes under load", () => {
  let server: PostgresServer;
  let database: PostgresDatabase;
  beforeAll(async () => {
    server = await startPostgres({ durable: true });
    const client = new Client({ connectionString: server.urlOf("postgres") });
    await client.connect();
    await migrate(client);
    await client.end();
    database = await openPostgresDatabase(server.urlOf("postgres"));
  });
  afterAll(async () => {
    await database.close();
    await server.stop();
  });

  it.each(drivers)(
    "has kept every event that was acknowledged, and the host on %s goes on without a restart",
    { timeout: 60_000 + CRASH_TIMES * 30_000 },
    async (driver) => {
      const { rows } = await database.pool.query("select current_setting('fsync') as fsync");
      expect(rows).toEqual([{ fsync: "on" }]);
      const supervisor = new Supervisor({ ...database.options, driver });
      const run = new Run({ database, supervisor, scope: `restart${driver}`, look: false });
      try {
        const load = new Load(run, "receiver", chance);
        for (let n = 0; n < 3 * CRASH_TIMES; n++) {
          const before = load.sent;
          while (load.sent < before + 20) await sleep(20);
          await server.kill("SIGQUIT");
          run.fault("server down");
          await sleep(chance.below(300));
          await server.start();
        }
        await load.drain();
        const report = await run.end();
        expectKept(report, `${3 * CRASH_TIMES} restarts, seed ${CRASH_SEED}`);
        expect(run.ends).toEqual([]);
        expect(report.counts.get("fault.server down")).toBe(3 * CRASH_TIMES);
      } finally {
        run.close();
        await supervisor.stop();
      }
    },
  );
});
