import { Pool } from "pg";
import type { OrmClient } from "posthorn/orm";
import { afterAll } from "vitest";
import type { Driver, HostTransaction, TestPool } from "../../postgres/drivers.js";

/** An ORM that is open on a database. */
export interface Opened<Tx> {
  readonly client: OrmClient<Tx>;
  /** A statement by the ORM's own words, as a handler would write it. */
  inside(tx: Tx, text: string): PromiseLike<unknown>;
  end(): Promise<unknown>;
}

/** By two arguments, so that the second one is typed by the first. */
export function opened<Tx>(client: OrmClient<Tx>, uses: Omit<Opened<Tx>, "client">): Opened<Tx> {
  return { client, ...uses };
}

export interface OpenOptions {
  readonly url: string;
  readonly max: number;
}

/** An ORM as a driver of the tests of Postgres: their harnesses then know no difference. */
export function driverOf<Tx>(
  names: { readonly name: string; readonly commit: string },
  open: (options: OpenOptions) => Opened<Tx>,
): Driver {
  return {
    ...names,
    open(url, { max = 10 } = {}) {
      const orm = open({ url, max });
      const host = new Pool({ connectionString: url, max: 2 });
      host.on("error", () => undefined);
      let ended: Promise<unknown> | undefined;
      const end = async (): Promise<void> => {
        await (ended ??= Promise.all([orm.end(), host.end()]));
      };
      afterAll(end);
      return {
        client: orm.client as unknown as TestPool["client"],
        rows: async (text) => (await host.query<Record<string, string>>(text)).rows,
        begin: () => beginOn(orm.client),
        inside: async (tx, text) => orm.inside(tx as Tx, text),
        dedupIn: (tx) => ({ client: orm.client, tx }),
        end,
      };
    },
  };
}

/** The tests open their pools without waiting. */
export function afterwards<Tx>(client: OrmClient<Tx>, ready: Promise<unknown>): OrmClient<Tx> {
  return {
    ...client,
    begin: (work, limits) => ready.then(() => client.begin(work, limits)),
    run: (query, tx) => ready.then(() => client.run(query, tx)),
  };
}

/** Turns the callback of the ORM's transaction inside out. */
export async function beginOn<Tx>(client: OrmClient<Tx>): Promise<HostTransaction> {
  const rolledBack = new Error("rolled back");
  const ending = new EventTarget();
  const ended = new Promise<void>((resolve, reject) => {
    ending.addEventListener("commit", () => resolve());
    ending.addEventListener("rollback", () => reject(rolledBack));
  });
  let finished: Promise<unknown> = Promise.resolve();
  const tx = await new Promise<Tx>((resolve, reject) => {
    finished = client.begin(
      (given) => {
        resolve(given);
        return ended;
      },
      { acquireMs: 10_000 },
    );
    finished.catch(reject);
  });
  const end = (how: string) => async (): Promise<void> => {
    ending.dispatchEvent(new Event(how));
    await finished.catch((error: unknown) => {
      if (how === "commit") throw error;
    });
  };
  return { client: tx as never, commit: end("commit"), rollback: end("rollback") };
}

/** A pool of `pg` that bears the end of a connection which an ORM has: without the listener, it ends the process. */
export function pgPool({ url, max }: OpenOptions): Pool {
  const pool = new Pool({ connectionString: url, max });
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}
