import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "pg";
import type { PoolClient } from "pg";
import { postgresDedup, postgresStore } from "posthorn/postgres";
import { alike, same } from "../../library/src/testing/conformance/expectation.js";
import { arrivalOf } from "../../library/src/testing/conformance/inbox/harness.js";
import { endpointFor, eventOf, settlementOf } from "../../library/src/testing/conformance/outbox/steps.js";
import { createLossyProxy } from "../postgres/lossy-proxy.js";
import type { Targeted } from "./targeted.js";

export const SETTLED_IN_ORDER = "settlements of the same lanes in any order meet in no deadlock";
export const KEYED_IN_ORDER = "appends of the same ids in any order meet in no deadlock";
export const TAG_CHECKED = "an event whose handler swallows an error of the database is not applied";
export const TRANSACTION_PROVED =
  "an event whose handler left its transaction where no guard sees it is not applied";
export const ISOLATION_NAMED = "handlers run read committed, whatever the database's default";
export const TIME_GOES_ON = "time goes on inside of a host's transaction";
export const HELD_ID = "an id that a transaction holds is not waited for by its batch";
export const LOST_ANSWER = "an id whose answer was lost is still first";
export const GIVEN_BACK = "an id whose caller was told nothing is first at another process";

export function postgresCases(url: string): readonly Targeted[] {
  const within = (check: (pools: Pools) => Promise<void>): Promise<void> => withPools(url, check);
  return [
    { name: SETTLED_IN_ORDER, run: () => within(settledInOrder) },
    { name: KEYED_IN_ORDER, run: () => within(keyedInOrder) },
    { name: TAG_CHECKED, run: () => within(tagChecked) },
    { name: TRANSACTION_PROVED, run: () => within(transactionProved) },
    { name: ISOLATION_NAMED, run: () => within(isolationNamed) },
    { name: TIME_GOES_ON, run: () => within(timeGoesOn) },
    { name: HELD_ID, run: () => within(heldId) },
    { name: LOST_ANSWER, run: () => within(lostAnswer) },
    { name: GIVEN_BACK, run: () => within(givenBack) },
  ];
}

interface Pools {
  readonly url: string;
  readonly one: Pool;
  readonly two: Pool;
  /** The codes of all errors that the server has answered with. */
  readonly codes: readonly string[];
  readonly open: (url: string, max?: number) => Pool;
}

async function withPools(url: string, check: (pools: Pools) => Promise<void>): Promise<void> {
  const codes: string[] = [];
  const all: Pool[] = [];
  const open = (to: string, max = 10): Pool => {
    const pool = new Pool({ connectionString: to, max });
    all.push(pool);
    pool.on("error", () => undefined);
    // The store tries a transaction again after a deadlock: only the connection tells of it.
    pool.on("connect", (client) => {
      const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
      connection.on("errorMessage", ({ code }: { code: string }) => codes.push(code));
    });
    return pool;
  };
  const pools: Pools = { url, codes, open, one: open(url), two: open(url) };
  try {
    await check(pools);
  } finally {
    await Promise.all(all.map((pool) => pool.end()));
  }
}

const run = { maxEvents: 1, maxBytes: 1_000_000 };
const request = {
  worker: "worker_1",
  limit: 500,
  leaseMs: 60_000,
  of: { kind: "endpoint" } as const,
  inFlight: new Map(),
  run,
  alone: false,
};
const LANES = 20;
const MIDDLE = LANES / 2;

/**
 * Runs two writers that want the same rows in opposite orders, while the row in the middle is held. Each comes to the
 * middle with its half of the rows, unless both go by one order; when the row is let go, neither half can go on.
 */
async function meetInTheMiddle<A, B>(
  { one, open, url }: Pools,
  hold: string,
  writers: readonly [() => Promise<A>, () => Promise<B>],
): Promise<readonly [A, B]> {
  const holder = await open(url, 1).connect();
  try {
    await holder.query("begin");
    await holder.query(hold);
    const both = Promise.all([writers[0](), writers[1]()]);
    const sql =
      "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    while ((await one.query(sql)).rows.length < writers.length) await sleep(10);
    await holder.query("rollback");
    return await both;
  } finally {
    holder.release();
  }
}

async function settledInOrder(pools: Pools): Promise<void> {
  const [first, second] = [postgresStore({ client: pools.one }), postgresStore({ client: pools.two })];
  // A tenant of its own: other cases leave their lanes behind.
  const [id, tenant] = ["ep_settled", "settled"];
  await first.addEndpoint(endpointFor({ id, tenant, maxInFlight: 1000 }));
  const keys = Array.from({ length: LANES }, (_, n) => `k${n}`);
  await first.append(await Promise.all(keys.map((key) => eventOf({ id: `e_${key}`, tenant, key }))));
  while ((await first.sequence()).more);
  const found = (await first.claim(request)).claims.filter(({ consumer: endpoint }) => endpoint.id === id);
  same(found.length, LANES, "lanes that are claimed");
  const claims = found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const settlements = claims.map((claim) => settlementOf(claim, { attempts: [] }));
  const hold = `select from posthorn.lane_state where lane_id = ${claims[MIDDLE]?.id} for update`;
  const [here, there] = await meetInTheMiddle(pools, hold, [
    () => first.settle({ ...request, settlements }),
    () => second.settle({ ...request, settlements: settlements.toReversed() }),
  ]);
  const counted = [...here, ...there].filter(({ kind }) => kind === "settled");
  same(counted.length, LANES, "settlements that count");
  alike(pools.codes, [], "errors of the server");
}

async function keyedInOrder(pools: Pools): Promise<void> {
  const [first, second] = [postgresStore({ client: pools.one }), postgresStore({ client: pools.two })];
  const ids = Array.from({ length: LANES }, (_, n) => `id_${String(n).padStart(4, "0")}`);
  const events = await Promise.all(ids.map((id) => eventOf({ id, idGiven: true })));
  const hold = `insert into posthorn.outbox_key values ('${events[MIDDLE]?.tenant}', '${ids[MIDDLE]}', '')`;
  const [here, there] = await meetInTheMiddle(pools, hold, [
    () => first.append(events),
    () => second.append(events.toReversed()),
  ]);
  const written = [...here, ...there].filter((each) => each === "written");
  same(written.length, LANES, "events that are written");
  alike(pools.codes, [], "errors of the server");
}

/** Accepts an event with this handler, and says what that came to. */
async function accepted(pool: Pool, id: string, handle: (tx: PoolClient) => Promise<void>): Promise<string> {
  const store = postgresStore({ client: pool });
  const limits = { acquireMs: 5000, signal: new AbortController().signal };
  const work = async (tx: unknown) => {
    await handle(tx as PoolClient);
    return { outcome: "success" } as const;
  };
  return (await store.accept(await arrivalOf({ id }), work, limits)).kind;
}

async function tagChecked({ one }: Pools): Promise<void> {
  same(await accepted(one, "evt_swallowed", swallow), "failed", "an accept whose transaction is lost");
}

async function swallow(tx: PoolClient): Promise<void> {
  await tx.query("select 1 / 0").catch(() => undefined);
}

async function transactionProved({ one }: Pools): Promise<void> {
  same(await accepted(one, "evt_left", leave), "failed", "an accept whose handler left its transaction");
}

/** By a query object that shows nobody its text. */
function leave(tx: PoolClient): Promise<void> {
  return new Promise((resolve, reject) => {
    const query = {
      submit: (connection: { query(text: string): void }) => connection.query("rollback; begin"),
      handleReadyForQuery: resolve,
      handleError: reject,
      handleCommandComplete: () => undefined,
    };
    (tx as unknown as { query(query: object): void }).query(query);
  });
}

async function isolationNamed({ url, one, open }: Pools): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await one.query(`alter database ${name} set default_transaction_isolation to 'repeatable read'`);
  let found: unknown;
  await accepted(open(url), "evt_isolated", async (tx) => {
    const { rows } = await tx.query<{ transaction_isolation: string }>("show transaction_isolation");
    found = rows[0]?.transaction_isolation;
  });
  await one.query(`alter database ${name} reset default_transaction_isolation`);
  same(found, "read committed", "the isolation of a handler's transaction");
}

async function timeGoesOn({ one, two }: Pools): Promise<void> {
  const pooled = postgresDedup({ client: one });
  const host = await two.connect();
  try {
    await host.query("begin");
    await host.query("select now()");
    same((await pooled.record("evt_short", 0.1)).duplicate, false, "the first receipt");
    await sleep(250);
    const later = await postgresDedup({ tx: host }).record("evt_short", 60);
    same(later.duplicate, false, "a receipt after its time, in a transaction that began before it");
  } finally {
    await host.query("rollback");
    host.release();
  }
}

async function heldId({ one, two, codes }: Pools): Promise<void> {
  const adapter = postgresDedup({ client: one, waitMs: 5000 });
  const host = await two.connect();
  await host.query("begin");
  await postgresDedup({ tx: host }).record("evt_held", 60);
  const held = adapter.record("evt_held", 60);
  same((await adapter.record("evt_free", 60)).duplicate, false, "a receipt in the same batch");
  await host.query("commit");
  host.release();
  same((await held).duplicate, true, "the receipt that waited");
  // The lock's own time limit would end a wait, and tell it.
  alike(codes, [], "errors of the server");
}

async function givenBack({ url, one, open }: Pools): Promise<void> {
  const proxy = await createLossyProxy(url);
  const adapter = postgresDedup({ client: open(proxy.url, 1), waitMs: 0 });
  await adapter.record("evt_before_untold", 60);
  proxy.loseAnswerTo("evt_untold");
  const told = await adapter.record("evt_untold", 60).catch(() => "nothing");
  same(told, "nothing", "what its caller was told");
  const elsewhere = postgresDedup({ client: one });
  let isFirst = false;
  for (let tries = 0; tries < 400 && !isFirst; tries++) {
    isFirst = !(await elsewhere.record("evt_untold", 60)).duplicate;
    await sleep(40);
  }
  same(isFirst, true, "whether it is first elsewhere");
}

async function lostAnswer({ url, open }: Pools): Promise<void> {
  const proxy = await createLossyProxy(url);
  const adapter = postgresDedup({ client: open(proxy.url, 1), waitMs: 5000 });
  await adapter.record("evt_before", 60);
  proxy.loseAnswerTo("evt_lost");
  same((await adapter.record("evt_lost", 60)).duplicate, false, "the only receipt");
  same(proxy.lost(), 1, "lost answers");
  same((await adapter.record("evt_lost", 60)).duplicate, true, "the next receipt");
}
