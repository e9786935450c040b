import pg from "pg";
import postgres from "postgres";
import type { PostgresConnection, PostgresPool } from "posthorn/postgres";
import { afterAll } from "vitest";

/** A transaction of the host on a connection of its own. */
export interface HostTransaction {
  readonly client: PostgresConnection;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** One pool of either driver, in the few words that the tests need of both. */
export interface TestPool {
  readonly client: PostgresPool<never>;
  rows(text: string): Promise<Record<string, string>[]>;
  begin(isolation?: string): Promise<HostTransaction>;
  /** A statement in a handler's transaction. */
  inside(tx: unknown, text: string): Promise<unknown>;
  end(): Promise<void>;
}

export interface Driver {
  readonly name: string;
  open(url: string, options?: { max?: number; applicationName?: string }): TestPool;
}

const openPools = new Set<TestPool>();

// Pools that are still open when the file ends are closed, so that its database can be dropped.
afterAll(async () => {
  await Promise.all([...openPools].map((pool) => pool.end()));
});

function closedAtEnd(pool: TestPool): TestPool {
  openPools.add(pool);
  return pool;
}

const pgDriver: Driver = {
  name: "pg",
  open(url, { max = 10, applicationName = "posthorn-test" } = {}) {
    const pool = new pg.Pool({ connectionString: url, max, application_name: applicationName });
    pool.on("error", () => undefined);
    let ended: Promise<void> | undefined;
    return closedAtEnd({
      client: pool as unknown as PostgresPool<never>,
      rows: async (text) => (await pool.query<Record<string, string>>(text)).rows,
      async begin(isolation = "read committed") {
        const client = await pool.connect();
        await client.query(`begin isolation level ${isolation}`);
        const end = (how: string) => async () => {
          await client.query(how).finally(() => client.release());
        };
        return { client, commit: end("commit"), rollback: end("rollback") };
      },
      inside: (tx, text) => (tx as pg.PoolClient).query(text),
      end: () => (ended ??= pool.end()),
    });
  },
};

const postgresDriver: Driver = {
  name: "postgres",
  open(url, { max = 10, applicationName = "posthorn-test" } = {}) {
    const sql = postgres(url, {
      max,
      onnotice: () => undefined,
      connection: { application_name: applicationName },
    });
    return closedAtEnd({
      client: sql as unknown as PostgresPool<never>,
      rows: async (text) => [...(await sql.unsafe<Record<string, string>[]>(text))],
      begin: (isolation = "read committed") => beginOn(sql, isolation),
      inside: async (tx, text) => (tx as postgres.TransactionSql).unsafe(text),
      end: () => sql.end({ timeout: 1 }),
    });
  },
};

/** Turns the callback of `sql.begin` inside out. */
async function beginOn(sql: postgres.Sql, isolation: string): Promise<HostTransaction> {
  const rolledBack = new Error("rolled back");
  let end: (error?: Error) => void = () => undefined;
  const ending = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve());
  });
  let finished: Promise<unknown> = Promise.resolve();
  const client = await new Promise<postgres.TransactionSql>((resolve, reject) => {
    finished = sql.begin(`isolation level ${isolation}`, (tx) => {
      resolve(tx);
      return ending;
    });
    finished.catch(reject);
  });
  return {
    client,
    async commit() {
      end();
      await finished;
    },
    async rollback() {
      end(rolledBack);
      await finished.catch((error: unknown) => {
        if (error !== rolledBack) throw error;
      });
    },
  };
}

export const drivers: readonly Driver[] = [pgDriver, postgresDriver];
