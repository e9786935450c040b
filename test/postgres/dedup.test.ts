import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import postgres from "postgres";
import { isPosthornError } from "posthorn";
import { postgresDedup } from "posthorn/postgres";
import type { PostgresDedup } from "posthorn/postgres";
import { describe, expect, it } from "vitest";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";
import { createLossyProxy } from "./lossy-proxy.js";

const url = await freshDatabase();
const bare = await freshDatabase({ migrated: false });
const proxy = await createLossyProxy(url);
const DAY_S = 86_400;
const COME_AGAIN: ReadonlySet<string> = new Set(["store_unavailable", "dedup_busy"]);

let made = 0;
const newId = (): string => `evt_${++made}_${Math.random().toString(36).slice(2)}`;

/** The first verdict that a sender is told, who comes again while there is none: with `waitMs: 0` that is soon. */
async function told(adapter: Pick<PostgresDedup, "record">, id: string): Promise<boolean> {
  for (;;) {
    try {
      return (await adapter.record(id, DAY_S)).duplicate;
    } catch (error) {
      if (!isPosthornError(error) || !COME_AGAIN.has(error.code)) throw error;
      await sleep(10);
    }
  }
}

describe.each(drivers)("postgresDedup on $name", (driver) => {
  const pool = driver.open(url);
  const other = driver.open(url);
  const record = async (id: string, client = pool.client): Promise<boolean> =>
    (await postgresDedup({ client }).record(id, DAY_S)).duplicate;

  it("an id that a slow transaction holds keeps none of 200 others waiting, and is told busy", async () => {
    const slow = await other.begin();
    const [held, ...free] = Array.from({ length: 200 }, newId) as [string, ...string[]];
    await postgresDedup({ tx: slow.client }).record(held, DAY_S);
    const adapter = postgresDedup({ client: pool.client, waitMs: 3000 });
    let waits = true;
    const busy = expect(adapter.record(held, DAY_S).finally(() => (waits = false))).rejects.toMatchObject({
      code: "dedup_busy",
    });
    const verdicts = await Promise.all(free.map((id) => adapter.record(id, DAY_S)));
    expect(verdicts.every(({ duplicate }) => !duplicate)).toBe(true);
    expect(waits).toBe(true);
    await busy;
    await slow.commit();
    expect(await record(held)).toBe(true);
  });

  it("an id that waits is told the truth as soon as its holder ends", async () => {
    for (const [how, duplicate] of [
      ["commit", true],
      ["rollback", false],
    ] as const) {
      const slow = await other.begin();
      const id = newId();
      await postgresDedup({ tx: slow.client }).record(id, DAY_S);
      const waiting = record(id);
      await sleep(30);
      await slow[how]();
      expect(await waiting).toBe(duplicate);
    }
  });

  it("random overlapping batches of several processes end without a deadlock, each id with one first", async () => {
    const ids = Array.from({ length: 120 }, newId);
    const adapters = [pool, other, pool, other].map(({ client }) => postgresDedup({ client, waitMs: 5000 }));
    const calls = adapters.flatMap((adapter) =>
      ids
        .toSorted(() => Math.random() - 0.5)
        .map(async (id) => ({ id, duplicate: (await adapter.record(id, DAY_S)).duplicate })),
    );
    const firsts = (await Promise.all(calls)).filter(({ duplicate }) => !duplicate).map(({ id }) => id);
    expect(firsts.toSorted()).toEqual(ids.toSorted());
  });

  it("a writer that takes no lock holds up its own id only", async () => {
    const foreign = await other.begin();
    const held = newId();
    await other.inside(
      foreign.client,
      `insert into posthorn.dedup values ('', '${held}', now() + interval '1 day', 0)`,
    );
    const adapter = postgresDedup({ client: pool.client, waitMs: 3000 });
    const busy = expect(adapter.record(held, DAY_S)).rejects.toMatchObject({ code: "dedup_busy" });
    const others = Array.from({ length: 20 }, () => adapter.record(newId(), DAY_S));
    expect((await Promise.all(others)).some(({ duplicate }) => duplicate)).toBe(false);
    await busy;
    await foreign.rollback();
    expect(await record(held)).toBe(false);
  });

  it("a lost answer to an insert that was done is first, not a duplicate", async () => {
    const lossy = driver.open(proxy.url, { max: 2 });
    const adapter = postgresDedup({ client: lossy.client });
    await adapter.record(newId(), DAY_S);
    const [id, before] = [newId(), proxy.lost()];
    proxy.loseAnswerTo(id);
    expect(await adapter.record(id, DAY_S)).toEqual({ duplicate: false });
    expect(proxy.lost()).toBe(before + 1);
    expect(await record(id)).toBe(true);
    await lossy.end();
  });

  it("a request that got lost is sent again", async () => {
    const lossy = driver.open(proxy.url, { max: 2 });
    const adapter = postgresDedup({ client: lossy.client });
    await adapter.record(newId(), DAY_S);
    const [id, before] = [newId(), proxy.lost()];
    proxy.loseRequest(id);
    expect(await adapter.record(id, DAY_S)).toEqual({ duplicate: false });
    expect(proxy.lost()).toBe(before + 1);
    expect(await record(id)).toBe(true);
    await lossy.end();
  });

  it("a caller that was told nothing is still first when its event comes again", async () => {
    const lossy = driver.open(proxy.url, { max: 1 });
    const adapter = postgresDedup({ client: lossy.client, waitMs: 0 });
    await told(adapter, newId());
    const id = newId();
    proxy.loseAnswerTo(id);
    await expect(adapter.record(id, DAY_S)).rejects.toMatchObject({ code: "store_unavailable" });
    // What is sent while the connection is being reset is lost by `postgres`; no sender is back that soon.
    await sleep(50);
    expect(await told(adapter, id)).toBe(false);
    expect(await told(adapter, id)).toBe(true);
    await lossy.end();
  });

  it("a caller that was told nothing is first at another process, too", async () => {
    const lossy = driver.open(proxy.url, { max: 1 });
    const adapter = postgresDedup({ client: lossy.client, waitMs: 0 });
    await told(adapter, newId());
    const id = newId();
    proxy.loseAnswerTo(id);
    await expect(adapter.record(id, DAY_S)).rejects.toMatchObject({ code: "store_unavailable" });
    const elsewhere = postgresDedup({ client: other.client });
    // Until the first process has given the row back, nobody can tell it from one that was applied.
    await expect.poll(() => elsewhere.record(id, DAY_S)).toEqual({ duplicate: false });
    expect(await elsewhere.record(id, DAY_S)).toEqual({ duplicate: true });
    expect(await told(adapter, id)).toBe(true);
    await lossy.end();
  });

  it("an id that its own process has taken again is not given back under its hands", async () => {
    const lossy = driver.open(proxy.url, { max: 1 });
    const adapter = postgresDedup({ client: lossy.client, waitMs: 0 });
    await told(adapter, newId());
    for (let round = 0; round < 5; round++) {
      const id = newId();
      proxy.loseAnswerTo(id);
      await expect(adapter.record(id, DAY_S)).rejects.toMatchObject({ code: "store_unavailable" });
      await sleep(round * 15);
      const verdicts = [await told(adapter, id), await told(adapter, id)];
      await sleep(80);
      expect([...verdicts, await record(id)]).toEqual([false, true, true]);
    }
    await lossy.end();
  });

  it("ids of one scope say nothing of those of another, on a pool and in a transaction", async () => {
    const id = newId();
    const scopes = [{ scope: "stripe" }, { scope: "github" }, {}];
    for (const duplicate of [false, true]) {
      for (const scope of scopes) {
        const adapter = postgresDedup({ client: pool.client, ...scope });
        expect(await adapter.record(id, DAY_S)).toEqual({ duplicate });
      }
    }
    const transaction = await other.begin();
    const inside = (scope: string) => postgresDedup({ tx: transaction.client, scope }).record(id, DAY_S);
    expect([await inside("stripe"), await inside("gitlab")]).toEqual([
      { duplicate: true },
      { duplicate: false },
    ]);
    // Held, not committed: the same id of another scope waits for nobody.
    const third = postgresDedup({ client: pool.client, scope: "gitea", waitMs: 0 });
    expect(await third.record(id, DAY_S)).toEqual({ duplicate: false });
    await transaction.rollback();
  });

  it("a connection as client, a pool as tx and a ttl in milliseconds are refused with the hint", async () => {
    const transaction = await pool.begin();
    expect(() => postgresDedup({ client: transaction.client as never })).toThrow(
      expect.objectContaining({
        code: "store_client_unsupported",
        message: expect.stringContaining("as `tx`") as string,
      }),
    );
    expect(() => postgresDedup({ tx: pool.client as never })).toThrow(
      expect.objectContaining({ code: "store_transaction_required" }),
    );
    await transaction.rollback();
    const adapter = postgresDedup({ client: pool.client });
    await expect(adapter.record(newId(), DAY_S * 1000)).rejects.toMatchObject({
      code: "inbox_option_invalid",
      message: expect.stringContaining("In seconds they are 86400") as string,
    });
  });

  it("where all connections are taken, the caller is told busy and nothing is recorded", async () => {
    const small = driver.open(url, { max: 1 });
    const adapter = postgresDedup({ client: small.client, waitMs: 50 });
    const slow = await small.begin();
    const id = newId();
    await expect(adapter.record(id, DAY_S)).rejects.toMatchObject({ code: "dedup_busy" });
    await slow.rollback();
    expect(await adapter.record(id, DAY_S)).toEqual({ duplicate: false });
    await small.end();
  });

  it("the table is made once by any number of processes that miss it at the same time", async () => {
    const pools = [1, 2, 3].map(() => driver.open(bare, { max: 2 }));
    const id = newId();
    const tableName = `ids_of_${driver.name}`;
    const verdicts = await Promise.all(
      pools.map(({ client }) => postgresDedup({ client, tableName, waitMs: 5000 }).record(id, DAY_S)),
    );
    expect(verdicts.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
  });

  it("a missing table that may not be made is told with the command", async () => {
    const { client } = driver.open(bare, { max: 1 });
    const adapter = postgresDedup({ client, tableName: "absent", autoMigrate: false });
    await expect(adapter.record(newId(), DAY_S)).rejects.toMatchObject({
      code: "store_not_migrated",
      message: expect.stringContaining('tableName: "absent" }).migrate()'),
    });
  });

  it("a transaction without the table is told the command, and stays fit for use", async () => {
    const empty = driver.open(bare, { max: 1 });
    const transaction = await empty.begin();
    const adapter = postgresDedup({ tx: transaction.client, schema: "nowhere" });
    await expect(adapter.record(newId(), DAY_S)).rejects.toMatchObject({ code: "store_not_migrated" });
    const name = `made_on_${driver.name}`;
    await empty.inside(transaction.client, `create table ${name} (n int)`);
    await transaction.commit();
    expect(await empty.rows(`select to_regclass('${name}')::text as name`)).toEqual([{ name }]);
  });

  it("a transaction that has ended is refused", async () => {
    const transaction = await pool.begin();
    const adapter = postgresDedup({ tx: transaction.client });
    await adapter.record(newId(), DAY_S);
    await transaction.commit();
    await expect(adapter.record(newId(), DAY_S)).rejects.toMatchObject({
      code: "store_transaction_finished",
    });
  });

  it("a transaction that was aborted by a statement of the host's is refused", async () => {
    const transaction = await pool.begin();
    await pool.inside(transaction.client, "select 1 / 0").catch(() => undefined);
    const adapter = postgresDedup({ tx: transaction.client });
    await expect(adapter.record(newId(), DAY_S)).rejects.toMatchObject({ code: "store_transaction_aborted" });
    await transaction.rollback().catch(() => undefined);
  });

  it("in a host's repeatable read, an id that came in between is the database's 40001, for the host's own loop", async () => {
    const transaction = await pool.begin("repeatable read");
    await pool.inside(transaction.client, "select 1");
    const id = newId();
    expect(await record(id)).toBe(false);
    const adapter = postgresDedup({ tx: transaction.client });
    await expect(adapter.record(id, DAY_S)).rejects.toMatchObject({ code: "40001" });
    await transaction.rollback().catch(() => undefined);
  });

  it("works where sessions default to serializable", async () => {
    const strict = driver.open(`${url}?options=-c%20default_transaction_isolation%3Dserializable`);
    const adapters = [1, 2, 3].map(() => postgresDedup({ client: strict.client, waitMs: 5000 }));
    for (let round = 0; round < 5; round++) {
      const id = newId();
      const verdicts = await Promise.all(adapters.map((adapter) => adapter.record(id, DAY_S)));
      expect(verdicts.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    }
  });

  it("works without prepared statements", async () => {
    const adapter = postgresDedup({ client: other.client, prepare: false });
    const id = newId();
    expect(await adapter.record(id, DAY_S)).toEqual({ duplicate: false });
    expect(await adapter.record(id, DAY_S)).toEqual({ duplicate: true });
  });

  it("expired ids are removed as new ones come, and by purge", async () => {
    const tableName = `purged_by_${driver.name}`;
    const adapter = postgresDedup({ client: pool.client, tableName });
    await adapter.migrate();
    const insert = (rows: number) =>
      pool.rows(
        `insert into posthorn.${tableName} select '', gen_random_uuid(), now() - interval '1 h', 0 from generate_series(1, ${rows})`,
      );
    const left = async () =>
      Number((await pool.rows(`select count(*)::text as n from posthorn.${tableName}`))[0]?.["n"]);
    await insert(900);
    await Promise.all(Array.from({ length: 500 }, () => adapter.record(newId(), DAY_S)));
    await expect.poll(left).toBe(500);
    await insert(700);
    expect(await adapter.purge({ maxRows: 600, deadlineMs: 5000 })).toEqual({ removed: 600, more: true });
    expect(await adapter.purge({ maxRows: 600, deadlineMs: 5000 })).toEqual({ removed: 100, more: false });
  });
});

describe("a connection that is in no transaction", () => {
  it("is refused on pg, whose rollback could forget nothing", async () => {
    const client = new Client(url);
    await client.connect();
    const adapter = postgresDedup({ tx: client });
    await expect(adapter.record(newId(), DAY_S)).rejects.toMatchObject({
      code: "store_transaction_required",
    });
    await client.query("begin");
    expect(await adapter.record(newId(), DAY_S)).toEqual({ duplicate: false });
    await client.end();
  });

  it("is refused on postgres, reserved or not", async () => {
    const sql = postgres(url, { max: 1 });
    const reserved = await sql.reserve();
    const adapter = postgresDedup({ tx: reserved });
    await expect(adapter.record(newId(), DAY_S)).rejects.toMatchObject({
      code: "store_transaction_required",
    });
    await reserved.unsafe("begin");
    expect(await adapter.record(newId(), DAY_S)).toEqual({ duplicate: false });
    await reserved.unsafe("rollback");
    reserved.release();
    await sql.end();
  });
});
