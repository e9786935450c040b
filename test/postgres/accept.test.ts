import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Acceptance, Arrival, InboxStore } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import { afterAll, describe, expect, it } from "vitest";
import { createGate } from "../gate.js";
import { freshDatabase } from "../services.js";
import type { TestPool } from "./drivers.js";
import { drivers } from "./drivers.js";
import { createLossyProxy } from "./lossy-proxy.js";

const url = await freshDatabase();
const bare = await freshDatabase({ migrated: false });
const proxy = await createLossyProxy(url);
await drivers[0]?.open(url, { max: 1 }).rows("create table effect (event_id text not null)");

// A driver that loses its connection may throw where nobody awaits: that would end the host's process.
const strays: unknown[] = [];
const stray = (error: unknown): void => void strays.push(error);
process.on("uncaughtException", stray).on("unhandledRejection", stray);
afterAll(() => {
  process.off("uncaughtException", stray).off("unhandledRejection", stray);
  expect(strays).toEqual([]);
});

let made = 0;
function newArrival(): Arrival {
  const body = Buffer.from(`{"n":${++made}}`);
  return {
    tenant: "default",
    source: "stripe",
    id: `evt_${made}`,
    idPreview: undefined,
    type: "invoice.paid",
    eventAt: undefined,
    body,
    bodyHash: createHash("sha256").update(body).digest(),
    headers: "{}",
    windowS: 86_400,
  };
}

interface Given {
  readonly acquireMs?: number;
  readonly deadlineMs?: number;
}

type Work = (tx: never) => Promise<unknown>;

const success = { outcome: "success" } as const;

describe.each(drivers)("postgresStore on $name", (driver) => {
  const MAX = 4;
  const pool = driver.open(url, { max: MAX });
  const admin = driver.open(url, { max: 4 });
  const store = postgresStore({ client: pool.client });
  const accept = (
    arrival: Arrival,
    work: Work,
    { acquireMs = 10_000, deadlineMs = 20_000, on = store }: Given & { on?: InboxStore<never> } = {},
  ): Promise<Acceptance> =>
    on.accept(arrival, (tx) => work(tx).then(() => success), {
      acquireMs,
      signal: AbortSignal.timeout(deadlineMs),
    });

  const write = (tx: unknown, { id }: Arrival): Promise<unknown> =>
    pool.inside(tx, `insert into effect (event_id) values ('${id}')`);

  const effectsOf = async ({ id }: Arrival): Promise<number> => {
    return (await admin.rows(`select 1 as one from effect where event_id = '${id}'`)).length;
  };

  const pidOf = async (tx: unknown): Promise<number> => {
    const answer = (await pool.inside(tx, "select pg_backend_pid() as pid")) as
      | { rows: { pid: number }[] }
      | { pid: number }[];
    return ("rows" in answer ? answer.rows : answer)[0]?.pid ?? 0;
  };

  /** Waits until the server has no such backend any more: until then it may hold its locks. */
  const gone = (pid: number): Promise<void> =>
    expect.poll(() => admin.rows(`select 1 as one from pg_stat_activity where pid = ${pid}`)).toEqual([]);

  /** Waits until it runs the statement that sleeps. */
  const asleep = (pid: number): Promise<void> =>
    expect
      .poll(() => admin.rows(`select wait_event from pg_stat_activity where pid = ${pid}`))
      .toEqual([{ wait_event: "PgSleep" }]);

  const terminate = async (pid: number): Promise<void> => {
    await admin.rows(`select pg_terminate_backend(${pid})`);
    await gone(pid);
  };

  /** All of the pool's connections are there and idle: none was lost, none is in a transaction of an earlier test. */
  const expectWholePool = async (of: TestPool = pool): Promise<void> => {
    // `postgres` blames the next query on a connection for the end of the last one, so it may take a second try.
    await expect
      .poll(async () => {
        const all = await Promise.allSettled(Array.from({ length: MAX }, () => of.begin()));
        const begun = all.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
        await Promise.all(begun.map((transaction) => transaction.rollback()));
        return begun.length;
      })
      .toBe(MAX);
  };

  const expectAppliedOnce = async (arrival: Arrival): Promise<void> => {
    expect(await accept(arrival, (tx) => write(tx, arrival))).toMatchObject({ kind: "applied" });
    expect(await effectsOf(arrival)).toBe(1);
    expect(await accept(arrival, (tx) => write(tx, arrival))).toMatchObject({ kind: "duplicate" });
    expect(await effectsOf(arrival)).toBe(1);
    await expectWholePool();
  };

  it("a handler that swallows the error of a statement is told so by name, and nothing is applied", async () => {
    const arrival = newArrival();
    const acceptance = await accept(arrival, async (tx) => {
      await write(tx, arrival);
      await pool.inside(tx, "select 1 / 0").catch(() => undefined);
    });
    expect(acceptance).toMatchObject({
      kind: "failed",
      error: { code: "store_transaction_aborted", cause: { code: "22012" } },
    });
    expect(await effectsOf(arrival)).toBe(0);
    await expectAppliedOnce(arrival);
  });

  it("a backend that is terminated under a running statement fails the event, and the process lives", async () => {
    const arrival = newArrival();
    let terminated: Promise<void> | undefined;
    const acceptance = await accept(arrival, async (tx) => {
      await write(tx, arrival);
      const pid = await pidOf(tx);
      const sleeping = pool.inside(tx, "select pg_sleep(20)");
      // Together: the sleep may fail before the answer to the termination is there.
      terminated = asleep(pid).then(() => terminate(pid));
      await Promise.all([sleeping, terminated]);
    });
    expect(acceptance.kind).toBe("failed");
    await terminated;
    await expectAppliedOnce(arrival);
  });

  it("a backend that is terminated while the handler does something else fails the event, whatever it returns", async () => {
    for (const throws of [true, false]) {
      const arrival = newArrival();
      const acceptance = await accept(arrival, async (tx) => {
        await write(tx, arrival);
        const pid = await pidOf(tx);
        await terminate(pid);
        if (throws) throw new Error("mine");
      });
      expect(acceptance.kind).toBe("failed");
      await expectWholePool();
      await expectAppliedOnce(arrival);
    }
  });

  it("a handler that swallows the loss of its connection is not called applied", async () => {
    const arrival = newArrival();
    const acceptance = await accept(arrival, async (tx) => {
      const pid = await pidOf(tx);
      const sleeping = pool.inside(tx, "select pg_sleep(20)").catch(() => undefined);
      await asleep(pid);
      await terminate(pid);
      await sleeping;
    });
    expect(acceptance.kind).toBe("failed");
    await expectAppliedOnce(arrival);
  });

  it("a statement timeout fails the event, and its connection goes back whole", async () => {
    const arrival = newArrival();
    const acceptance = await accept(arrival, async (tx) => {
      await pool.inside(tx, "set local statement_timeout = 20");
      await pool.inside(tx, "select pg_sleep(10)");
    });
    expect(acceptance).toMatchObject({ kind: "failed", error: { code: "57014" } });
    await expectAppliedOnce(arrival);
  });

  it("a session that the server ends for idling in its transaction fails the event", async () => {
    const arrival = newArrival();
    const acceptance = await accept(arrival, async (tx) => {
      await write(tx, arrival);
      const pid = await pidOf(tx);
      await pool.inside(tx, "set local idle_in_transaction_session_timeout = 30");
      await gone(pid);
    });
    expect(acceptance.kind).toBe("failed");
    await expectAppliedOnce(arrival);
  });

  it("a constraint that fails at commit fails the event", async () => {
    await admin.rows(
      "create table if not exists checked_late (id int primary key, ref int references checked_late (id) deferrable initially deferred)",
    );
    const arrival = newArrival();
    const acceptance = await accept(arrival, (tx) =>
      pool.inside(tx, "insert into checked_late values (1, 2)"),
    );
    expect(acceptance).toMatchObject({ kind: "failed", error: { code: "23503" } });
    await expectAppliedOnce(arrival);
  });

  it("a lost answer to the commit is unknown; the next delivery finds that the event was applied", async () => {
    const lossy = driver.open(proxy.url, { max: MAX });
    const arrival = newArrival();
    const before = proxy.lost();
    const unknown = accept(
      arrival,
      async (tx) => {
        await write(tx, arrival);
        proxy.loseAnswerTo("commit");
      },
      { on: postgresStore({ client: lossy.client }) },
    );
    await expect(unknown).rejects.toMatchObject({ code: "store_commit_unknown" });
    expect(proxy.lost()).toBe(before + 1);
    await expect.poll(() => effectsOf(arrival)).toBe(1);
    expect(await accept(arrival, (tx) => write(tx, arrival))).toMatchObject({ kind: "duplicate" });
    await expectWholePool(lossy);
  });

  it("a commit that never arrived is unknown; the next delivery is applied", async () => {
    const lossy = driver.open(proxy.url, { max: MAX });
    const arrival = newArrival();
    const before = proxy.lost();
    const unknown = accept(
      arrival,
      async (tx) => {
        await write(tx, arrival);
        proxy.loseRequest("commit");
      },
      { on: postgresStore({ client: lossy.client }) },
    );
    await expect(unknown).rejects.toMatchObject({ code: "store_commit_unknown" });
    expect(proxy.lost()).toBe(before + 1);
    await expect.poll(async () => (await accept(arrival, (tx) => write(tx, arrival))).kind).toBe("applied");
    expect(await effectsOf(arrival)).toBe(1);
    await expectWholePool(lossy);
  });

  it("a handler past its deadline in a statement is ended by force, and its event is free at once", async () => {
    const arrival = newArrival();
    const startedAt = performance.now();
    const acceptance = await accept(
      arrival,
      async (tx) => {
        await write(tx, arrival);
        await pool.inside(tx, "select pg_sleep(20)");
      },
      { deadlineMs: 200 },
    );
    expect(acceptance).toMatchObject({ kind: "failed", error: { code: "handler_deadline" } });
    // Less than the statement takes.
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    await store.fail(arrival, "too late");
    expect(await store.read(arrival)).toMatchObject({ outcome: "failed", attempts: 1 });
    await expectAppliedOnce(arrival);
  });

  it("a pool whose handlers all hang is free again after their deadline", async () => {
    const arrivals = Array.from({ length: MAX }, newArrival);
    const hung = await Promise.all(
      arrivals.map((arrival, n) =>
        accept(
          arrival,
          async (tx) => {
            await write(tx, arrival);
            await (n % 2 === 0 ? pool.inside(tx, "select pg_sleep(20)") : new Promise(() => undefined));
          },
          { deadlineMs: 300 },
        ),
      ),
    );
    for (const each of hung)
      expect(each).toMatchObject({ kind: "failed", error: { code: "handler_deadline" } });
    for (const arrival of arrivals) {
      // A busy server may need a moment to end what was cut off; until then the event is another's, and nothing runs.
      const refused = () => accept(arrival, () => Promise.reject(new Error("not yet")));
      await expect.poll(refused).toMatchObject({ kind: "failed" });
      await expectAppliedOnce(arrival);
    }
  });

  it("a transaction is refused after its end, instead of writing outside of it", async () => {
    const arrival = newArrival();
    let kept: unknown;
    await accept(arrival, (tx) => {
      kept = tx;
      return Promise.resolve();
    });
    await expect(write(kept, arrival)).rejects.toMatchObject({ code: "store_transaction_finished" });
    expect(await effectsOf(arrival)).toBe(0);
  });

  it("no connection within acquireMs is told as saturated, and the late one goes back", async () => {
    const others = await Promise.all(Array.from({ length: MAX }, () => pool.begin()));
    const arrival = newArrival();
    expect(await store.find(arrival)).toBeUndefined();
    expect(await accept(arrival, (tx) => write(tx, arrival), { acquireMs: 50 })).toEqual({
      kind: "saturated",
    });
    await Promise.all(others.map((transaction) => transaction.rollback()));
    await sleep(20);
    await expectAppliedOnce(arrival);
  });

  it("handlers that deadlock are run again, and both are applied", async () => {
    await admin.rows(`drop table if exists account; create table account (id int primary key, n int not null);
      insert into account values (1, 0), (2, 0)`);
    const arrivals = [newArrival(), newArrival()];
    const [bothHoldOne, oneHoldsBoth] = [createGate(), createGate()];
    let [runs, holding] = [0, 0];
    const acceptances = await Promise.all(
      arrivals.map((arrival, n) =>
        accept(arrival, async (tx) => {
          const run = ++runs;
          const update = (id: number) => pool.inside(tx, `update account set n = n + 1 where id = ${id}`);
          // Begun sooner, the one that is run again could come between the other and its second row.
          if (run > 2) await oneHoldsBoth.passed;
          await update(n === 0 ? 1 : 2);
          if (++holding === 2) bothHoldOne.open();
          await bothHoldOne.passed;
          await update(n === 0 ? 2 : 1);
          oneHoldsBoth.open();
          await write(tx, arrival);
        }),
      ),
    );
    expect(acceptances.map(({ kind }) => kind)).toEqual(["applied", "applied"]);
    expect(runs).toBe(3);
    expect(await admin.rows("select n::text from account")).toEqual([{ n: "2" }, { n: "2" }]);
    for (const arrival of arrivals) expect(await effectsOf(arrival)).toBe(1);
    await expectWholePool();
  });

  it("a handler that cannot be serialized is run three times, then failed", async () => {
    const arrival = newArrival();
    let runs = 0;
    const acceptance = await accept(arrival, (tx) => {
      runs++;
      return pool.inside(tx, "do $$ begin raise exception sqlstate '40001'; end $$");
    });
    expect(acceptance).toMatchObject({ kind: "failed", error: { code: "40001" } });
    expect(runs).toBe(3);
    await expectAppliedOnce(arrival);
  });

  it("works where sessions default to repeatable read", async () => {
    const strict = driver.open(`${url}?options=-c%20default_transaction_isolation%3Drepeatable%5C%20read`);
    const on = postgresStore({ client: strict.client });
    const arrivals = Array.from({ length: 10 }, newArrival);
    const deliveries = [...arrivals, ...arrivals, ...arrivals].map((arrival) =>
      accept(arrival, (tx) => write(tx, arrival), { on }),
    );
    for (const { kind } of await Promise.all(deliveries))
      expect(["applied", "busy", "duplicate"]).toContain(kind);
    for (const arrival of arrivals) expect(await effectsOf(arrival)).toBe(1);
  });

  it("strict about durability, it accepts nothing where commits do not wait for the disk", async () => {
    const { client } = driver.open(`${url}?options=-c%20synchronous_commit%3Doff`, { max: 1 });
    const on = postgresStore({ client, durability: "strict" });
    await expect(accept(newArrival(), () => Promise.resolve(), { on })).rejects.toMatchObject({
      code: "store_option_invalid",
      message: expect.stringContaining("synchronous_commit is off") as string,
    });
  });

  it("works without prepared statements", async () => {
    const on = postgresStore({ client: pool.client, prepare: false });
    const arrival = newArrival();
    expect(await accept(arrival, (tx) => write(tx, arrival), { on })).toEqual({
      kind: "applied",
      attempt: 1,
    });
    expect(await on.find(arrival)).toMatchObject({ outcome: "success" });
  });

  it("missing tables are told with the command", async () => {
    const on = postgresStore({ client: driver.open(bare, { max: 2 }).client });
    const told = { code: "store_not_migrated", message: expect.stringContaining("await migrate(pool)") };
    await expect(accept(newArrival(), () => Promise.resolve(), { on })).rejects.toMatchObject(told);
    await expect(on.find(newArrival())).rejects.toMatchObject(told);
    await expect(on.fail(newArrival(), "no")).rejects.toMatchObject(told);
  });

  it("a database that cannot be reached is told as such, and no handler runs", async () => {
    const on = postgresStore({
      client: driver.open("postgres://nobody@127.0.0.1:1/nothing", { max: 1 }).client,
    });
    let runs = 0;
    const unreachable = accept(newArrival(), () => Promise.resolve(runs++), { on });
    await expect(unreachable).rejects.toMatchObject({ code: "store_unavailable" });
    expect(runs).toBe(0);
  });

  it("look-ups of the same moment share one query", async () => {
    const arrivals = Array.from({ length: 50 }, newArrival);
    await Promise.all(arrivals.slice(0, 25).map((arrival) => accept(arrival, () => Promise.resolve())));
    const known = await Promise.all(arrivals.map((arrival) => store.find(arrival)));
    expect(known.map((each) => each?.outcome)).toEqual(
      arrivals.map((_, n) => (n < 25 ? "success" : undefined)),
    );
  });

  it("a failure that another delivery overtakes waits for no handler", async () => {
    const arrival = newArrival();
    const [begun, held] = [createGate(), createGate()];
    const slow = accept(arrival, () => {
      begun.open();
      return held.passed;
    });
    await begun.passed;
    // That it returns is the promise: the handler goes on only afterwards.
    await store.fail(arrival, "of an earlier delivery");
    held.open();
    expect(await slow).toEqual({ kind: "applied", attempt: 1 });
    expect(await store.read(arrival)).toMatchObject({ outcome: "success", error: undefined });
  });
});

it("a single connection in the place of a pool is refused", async () => {
  const transaction = await drivers[0]?.open(url, { max: 1 }).begin();
  expect(() => postgresStore({ client: transaction?.client as never })).toThrow(
    expect.objectContaining({ code: "store_client_unsupported" }),
  );
  await transaction?.rollback();
});
