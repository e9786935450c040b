import type { PoolClient } from "pg";
import { Pool } from "pg";
import postgres from "postgres";
import type { PostgresConnection, PostgresOrmDedupOptions, PostgresPool } from "posthorn/postgres";
import { afterAll } from "vitest";

/** A transaction of the host on a connection of its own. */
export interface HostTransaction {
  readonly client: PostgresConnection;
  readonly commit: () => Promise<void>;
  readonly rollback: () => Promise<void>;
}

/** One pool of either driver, in the few words that the tests need of both. */
export interface TestPool {
  readonly client: PostgresPool<never>;
  rows(text: string): Promise<Record<string, string>[]>;
  begin(isolation?: string): Promise<HostTransaction>;
  /** A statement in a handler's transaction. */
  inside(tx: unknown, text: string): Promise<unknown>;
  /** What `postgresDedup` takes for a transaction of the host; an ORM's needs its client beside it. */
  dedupIn?(tx: unknown): PostgresOrmDedupOptions<unknown>;
  end(): Promise<void>;
}

export interface Driver {
  readonly name: string;
  /** How it writes the commit. @default "commit" */
  readonly commit?: string;
  /** Whether its pools are one connection, so that nothing can be asked of the database beside an open transaction. @default false */
  readonly oneConnection?: boolean;
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
    const pool = new Pool({ connectionString: url, max, application_name: applicationName });
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
      inside: (tx, text) => (tx as PoolClient).query(text),
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
  const ending = new EventTarget();
  const ended = new Promise<void>((resolve, reject) => {
    ending.addEventListener("commit", () => resolve());
    ending.addEventListener("rollback", () => reject(rolledBack));
  });
  let finished: Promise<unknown> = Promise.resolve();
  const client = await new Promise<postgres.TransactionSql>((resolve, reject) => {
    finished = sql.begin(`isolation level ${isolation}`, (tx) => {
      resolve(tx);
      return ended;
    });
    finished.catch(reject);
  });
  return {
    client,
    async commit() {
      ending.dispatchEvent(new Event("commit"));
      await finished;
    },
    async rollback() {
      ending.dispatchEvent(new Event("rollback"));
      await finished.catch((error: unknown) => {
        if (error !== rolledBack) throw error;
      });
    },
  };
}

export const drivers: readonly Driver[] = [pgDriver, postgresDriver];
