import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { PoolClient } from "pg";
import type { Acceptance, Arrival } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import type { TransactionSql } from "postgres";
import { describe, expect, it } from "vitest";
import { freshDatabase } from "../services.js";
import { drivers } from "./drivers.js";

// What handlers do to a transaction that is not theirs to begin or end. The conformance kit says what must hold in
// every store; here stands how it is told, and what only a driver can do.

const url = await freshDatabase();
await drivers[0]?.open(url, { max: 1 }).rows("create table effect (event_id text not null)");

let made = 0;
function newArrival(): Arrival {
  const body = Buffer.from(`{"n":${++made}}`);
  const bodyHash = createHash("sha256").update(body).digest();
  return {
    tenant: "default",
    source: "stripe",
    id: `evt_${made}`,
    idPreview: undefined,
    type: "invoice.paid",
    eventAt: undefined,
    body,
    bodyHash,
    headers: "{}",
    windowS: 86_400,
  };
}

const success = { outcome: "success" } as const;
const owned = {
  kind: "failed",
  error: { code: "store_transaction_owned", message: expect.stringContaining("`savepoint`") as string },
};

/** A query object that shows nobody its text, as a library's own may be. */
function unseen(tx: PoolClient, text: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const query = {
      submit: (connection: { query(text: string): void }) => connection.query(text),
      handleReadyForQuery: resolve,
      handleError: reject,
      handleCommandComplete: () => undefined,
      handleRowDescription: () => undefined,
      handleDataRow: () => undefined,
    };
    (tx as unknown as { query(query: object): void }).query(query);
  });
}

describe.each(drivers)("a handler on $name", (driver) => {
  const pool = driver.open(url, { max: 2 });
  const store = postgresStore({ client: pool.client });
  const accept = (arrival: Arrival, work: (tx: never) => Promise<unknown>, on = store): Promise<Acceptance> =>
    on.accept(arrival, (tx) => work(tx).then(() => success), {
      acquireMs: 2000,
      signal: AbortSignal.timeout(10_000),
    });
  const write = (tx: unknown, { id }: Arrival): Promise<unknown> =>
    pool.inside(tx, `insert into effect (event_id) values ('${id}')`);
  const effectsOf = async ({ id }: Arrival): Promise<number> =>
    (await pool.rows(`select 1 as one from effect where event_id = '${id}'`)).length;

  it.each([true, false])(
    "that begins, commits and then throws leaves neither effect nor row (prepared: %s)",
    async (prepare) => {
      const on = postgresStore({ client: pool.client, prepare });
      const arrival = newArrival();
      for (let delivery = 1; delivery <= 3; delivery++) {
        const acceptance = await accept(
          arrival,
          async (tx) => {
            await pool.inside(tx, "begin");
            await write(tx, arrival);
            await pool.inside(tx, "commit");
            throw new Error("after the commit");
          },
          on,
        );
        expect(acceptance).toMatchObject(owned);
        expect(await effectsOf(arrival)).toBe(0);
        expect(await on.find(arrival)).toBeUndefined();
      }
    },
  );

  it("whose nested rollback is caught has its later writes rolled back with its event", async () => {
    const arrival = newArrival();
    for (let delivery = 1; delivery <= 3; delivery++) {
      const acceptance = await accept(arrival, async (tx) => {
        await pool.inside(tx, "rollback").catch(() => undefined);
        await write(tx, arrival);
      });
      expect(acceptance).toMatchObject(owned);
      expect(await effectsOf(arrival)).toBe(0);
    }
    expect((await accept(arrival, (tx) => write(tx, arrival))).kind).toBe("applied");
    expect(await effectsOf(arrival)).toBe(1);
  });

  it.each(["rollback; begin", "-- note\nrollback ; /* and */ start transaction", "commit and chain"])(
    "that runs %j fails, and none of its writes stays",
    async (text) => {
      const arrival = newArrival();
      const acceptance = await accept(arrival, async (tx) => {
        await pool.inside(tx, text).catch(() => undefined);
        await write(tx, arrival);
      });
      expect(acceptance).toMatchObject(owned);
      expect(await effectsOf(arrival)).toBe(0);
    },
  );

  it("may use savepoints, and the words inside of texts and functions", async () => {
    const arrival = newArrival();
    const acceptance = await accept(arrival, async (tx) => {
      await pool.inside(tx, "savepoint mine");
      await write(tx, arrival);
      await pool.inside(tx, "rollback to savepoint mine; release mine");
      await pool.inside(tx, "select '; commit', case when true then 1 end -- ; rollback");
      await pool.inside(tx, "do $$ begin perform 1; end $$");
      await write(tx, arrival);
    });
    expect(acceptance).toMatchObject({ kind: "applied" });
    expect(await effectsOf(arrival)).toBe(1);
  });

  it("whose error of another kind hides the refusal is told of the refusal, with its own error as the cause", async () => {
    const acceptance = await accept(newArrival(), async (tx) => {
      await pool.inside(tx, "begin").catch(() => {
        throw new Error("Failed query: begin");
      });
    });
    expect(acceptance).toMatchObject({ ...owned, error: { cause: { message: "Failed query: begin" } } });
  });

  it("that uses its transaction after the end gets a rejection, which its catch sees", async () => {
    const arrival = newArrival();
    let kept: unknown;
    await accept(arrival, (tx) => Promise.resolve((kept = tx)));
    let caught: unknown;
    const late =
      driver.name === "pg" ? (kept as PoolClient).query("select 1") : (kept as TransactionSql)`select 1`;
    await (late as Promise<unknown>).catch((error: unknown) => (caught = error));
    expect(caught).toMatchObject({ code: "store_transaction_finished" });
  });
});

describe("a handler on pg", () => {
  const pool = drivers[0]?.open(url, { max: 1 });
  const store = postgresStore({ client: pool?.client as never });
  const accept = (arrival: Arrival, work: (tx: PoolClient) => Promise<unknown>): Promise<Acceptance> =>
    store.accept(arrival, (tx) => work(tx as PoolClient).then(() => success), {
      acquireMs: 2000,
      signal: AbortSignal.timeout(10_000),
    });
  const effectsOf = async ({ id }: Arrival): Promise<number | undefined> =>
    (await pool?.rows(`select 1 as one from effect where event_id = '${id}'`))?.length;

  it("that rolls back and begins where no guard sees it is found out by the transaction's id", async () => {
    // The first ones prepare the statements of the connection; the later ones send the proof with the commit.
    for (let round = 1; round <= 3; round++) {
      const arrival = newArrival();
      const acceptance = await accept(arrival, async (tx) => {
        await unseen(tx, "rollback; begin");
        await tx.query("insert into effect (event_id) values ($1)", [arrival.id]);
      });
      expect(acceptance).toMatchObject(owned);
      expect(await effectsOf(arrival)).toBe(0);
      expect(await store.find(arrival)).toBeUndefined();
    }
  });

  it("that ended its transaction where no guard sees it gets no further query through", async () => {
    const arrival = newArrival();
    const acceptance = await accept(arrival, async (tx) => {
      await unseen(tx, "rollback");
      await tx.query("insert into effect (event_id) values ($1)", [arrival.id]);
    });
    expect(acceptance).toMatchObject(owned);
    expect(await effectsOf(arrival)).toBe(0);
  });

  it("that catches the error of a parameter which cannot be written is applied: nothing was sent", async () => {
    const arrival = newArrival();
    const loop: Record<string, unknown> = {};
    loop["itself"] = loop;
    const acceptance = await accept(arrival, async (tx) => {
      await tx.query("insert into effect (event_id) values ($1)", [arrival.id]);
      await tx.query("select $1::jsonb", [loop]).catch(() => undefined);
      await sleep(1);
    });
    expect(acceptance).toMatchObject({ kind: "applied" });
    expect(await effectsOf(arrival)).toBe(1);
  });
});
