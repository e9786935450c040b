import { createSender } from "posthorn";
import type { Acceptance, Arrival } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import { beforeAll, describe, expect, it } from "vitest";
import { freshDatabase } from "../services.js";
import { skipFor } from "../skip-reason.js";
import { newArrival } from "./arrival.js";
import { orms } from "./subjects/all.js";

// What the conformance kit cannot know of an ORM: methods of its own that end a transaction, what it does with statements
// that come late, and what is left in its pool.

const url = await freshDatabase();

const success = { outcome: "success" } as const;

/** What ends a transaction in the ORM's own words, where it has some. */
const ends: Readonly<Record<string, (tx: never) => Promise<unknown>>> = {
  knex: (tx: { commit(): Promise<unknown> }) => tx.commit(),
  sequelize: (tx: { rollback(): Promise<unknown> }) => tx.rollback(),
  typeorm: (tx: { queryRunner: { commitTransaction(): Promise<unknown> } }) =>
    tx.queryRunner.commitTransaction(),
  "mikro-orm": (tx: { commit(): Promise<unknown> }) => tx.commit(),
  pglite: (tx: { rollback(): Promise<unknown> }) => tx.rollback(),
};

describe.each(orms)("a handler on $name", (orm) => {
  const pool = orm.open(url, { max: 2 });
  const store = postgresStore({ client: pool.client });
  const accept = (
    arrival: Arrival,
    work: (tx: never) => Promise<unknown>,
    signal: AbortSignal = AbortSignal.timeout(20_000),
  ): Promise<Acceptance> =>
    store.accept(arrival, (tx) => work(tx).then(() => success), { acquireMs: 5000, signal });
  beforeAll(() => pool.rows("create table if not exists effect (event_id text not null)"));
  const write = (tx: unknown, { id }: Arrival): Promise<unknown> =>
    pool.inside(tx, `insert into effect (event_id) values ('${id}')`);
  const effectsOf = async ({ id }: Arrival): Promise<number> =>
    (await pool.rows(`select 1 as one from effect where event_id = '${id}'`)).length;
  const openTransactions = async (): Promise<number> =>
    (
      await pool.rows(
        "select 1 as one from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'",
      )
    ).length;

  const end = ends[orm.name];
  if (end)
    it("that ends its transaction by the ORM's own method fails, and leaves no transaction open", async () => {
      const arrival = newArrival();
      const acceptance = await accept(arrival, async (tx) => {
        await write(tx, arrival);
        await end(tx).catch(() => undefined);
      });
      expect(acceptance).toMatchObject({ kind: "failed", error: { code: "store_transaction_owned" } });
      expect([await effectsOf(arrival), await openTransactions()]).toEqual([0, 0]);
      expect(await accept(arrival, (tx) => write(tx, arrival))).toMatchObject({ kind: "applied" });
      expect(await effectsOf(arrival)).toBe(1);
    });

  it("that uses its transaction after the end is refused, and writes nothing", async () => {
    const arrival = newArrival();
    let kept: unknown;
    await accept(arrival, async (tx) => {
      kept = tx;
      await write(tx, arrival);
    });
    await expect(write(kept, arrival)).rejects.toBeDefined();
    expect(await effectsOf(arrival)).toBe(1);
  });

  // Nor would a deadline be noticed meanwhile.
  const uncancelled =
    orm.name === "pglite" && "PGlite runs a statement on this thread, where nothing can cancel it";
  const cancelled =
    "past its deadline has its statement cancelled, and the event is free for the next delivery";
  it(cancelled, skipFor(uncancelled), async () => {
    const arrival = newArrival();
    const deadline = AbortSignal.timeout(300);
    const failed = await accept(
      arrival,
      async (tx) => {
        await write(tx, arrival);
        await pool.inside(tx, "select pg_sleep(30)::text as slept");
      },
      deadline,
    );
    expect(failed).toMatchObject({ kind: "failed", error: { code: "handler_deadline" } });
    await expect
      .poll(async () => (await accept(arrival, (tx) => write(tx, arrival))).kind, { timeout: 15_000 })
      .toMatch(/applied|duplicate/);
    expect(await effectsOf(arrival)).toBe(1);
  });

  it("whose transaction met a serialization failure is run again", async () => {
    const arrival = newArrival();
    let runs = 0;
    const acceptance = await accept(arrival, async (tx) => {
      await write(tx, arrival);
      const raise = "do $$ begin raise exception 'again' using errcode = '40001'; end $$";
      if (++runs === 1) await pool.inside(tx, raise);
    });
    expect([acceptance.kind, runs, await effectsOf(arrival)]).toEqual(["applied", 2, 1]);
  });

  it("publishes in its transaction: a rollback takes the event back, a commit keeps it", async () => {
    const sender = createSender({ store });
    const published = async (): Promise<number> =>
      (await pool.rows("select 1 as one from posthorn.event")).length;
    const before = await published();
    const arrival = newArrival();
    await accept(arrival, async (tx) => {
      await sender.publish({ type: "order.paid", data: {} }, { tx });
      throw new Error("no");
    });
    expect(await published()).toBe(before);
    await accept(arrival, (tx) => sender.publish({ type: "order.paid", data: {} }, { tx }));
    expect(await published()).toBe(before + 1);
    const transaction = await pool.begin();
    await sender.publish(
      [
        { type: "a", data: {} },
        { type: "b", data: {} },
      ],
      { tx: transaction.client as never },
    );
    await transaction.commit();
    expect(await published()).toBe(before + 3);
  });

  it("of another database's transaction, or of none, is refused by publish", async () => {
    const sender = createSender({ store });
    const publishing = sender.publish({ type: "order.paid", data: {} }, { tx: {} as never });
    await expect(publishing).rejects.toMatchObject({ code: "store_transaction_required" });
  });
});
