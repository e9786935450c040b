import type { Pool, PoolClient } from "pg";
import { createWorker } from "posthorn";
import type { Worker } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import type { Case, LoadCase, Plan, Ratio, Suite, WorkCase } from "../suite.js";
import { openBench } from "./inbox/durable-postgres.js";
import { orderedIds } from "./inbox/event-ids.js";
import { acceptOne } from "./inbox/receiver-cases.js";
import { createCommonTables, commonTransaction } from "./inbox/common-pattern.js";
import { expectVerdict, SignedSupply, SOURCE, TYPE } from "./inbox/signed-events.js";
import { openBacklog } from "./worker/backlog.js";
import type { Backlog } from "./worker/backlog.js";

const WORKER = {
  common: "common transaction, one update",
  accept: "store.accept, one update",
  stored: "stored receipts, 1,000 callers",
  runs: "worker, eight waiting events of each key",
  single: "worker, one event of each key",
  batch: "worker, set-based batch of 20",
} as const;

const ratios: readonly Ratio[] = [
  { name: "worker / store.accept", of: WORKER.runs, to: WORKER.accept, goal: ">= 1.2" },
  { name: "worker, one event per transaction / store.accept", of: WORKER.single, to: WORKER.accept },
  { name: "batch of 20 / common transaction", of: WORKER.batch, to: WORKER.common, goal: ">= 4" },
  { name: "stored receipts / common transaction", of: WORKER.stored, to: WORKER.common, goal: ">= 5" },
];

const full: Plan = { rounds: 9, turnMs: 1500, warmupMs: 2000 };
const quick: Plan = { rounds: 5, turnMs: 500, warmupMs: 500 };
const CALLERS = 64;
const KEYS = 1000;
const QUICK_KEYS = 250;
// As many as a run has at most.
const RUN = 8;
const BATCH = 20;

interface Host {
  readonly pool: Pool;
  /** One update of the row of a key, by so many events of it. */
  readonly count: (tx: PoolClient, key: string, events: number) => Promise<void>;
}

/** The host's own work: one row for each key. */
async function openHost(pool: Pool, keys: number): Promise<Host> {
  await pool.query("create table if not exists counted (key text primary key, events bigint not null)");
  await pool.query(
    "insert into counted select 'key_' || n, 0 from generate_series(0, $1::int - 1) as n on conflict do nothing",
    [keys],
  );
  return {
    pool,
    count: async (tx, key, events) => {
      await tx.query("update counted set events = events + $2 where key = $1", [key, events]);
    },
  };
}

function keyIn(data: unknown): string {
  return (data as { data: { key: string } }).data.key;
}

/** Drains a backlog that is filled before each turn. */
function drainCase(
  name: string,
  { fill, drain }: { readonly fill: () => Promise<void>; readonly drain: () => Promise<number> },
): WorkCase {
  return { kind: "work", group: "worker", name, beforeTurn: fill, run: drain };
}

function workerOf({ store }: Backlog, { count }: Host, handled: () => void): Worker {
  return createWorker({
    store,
    handlers: {
      [TYPE]: async (event, { tx }) => {
        await count(tx, keyIn(event.data), 1);
        handled();
      },
    },
  });
}

function batchWorkerOf({ store }: Backlog, { count }: Host, handled: (events: number) => void): Worker {
  return createWorker({
    store,
    handlers: {
      [TYPE]: {
        by: "key",
        max: BATCH,
        batch: async (events, { tx }) => {
          await count(tx, keyIn(events[0]?.data), events.length);
          handled(events.length);
        },
      },
    },
  });
}

/** Drains, and sees that everything was handled. */
async function drained(worker: Worker, expected: number, handled: () => number): Promise<number> {
  const before = handled();
  await worker.drain();
  const events = handled() - before;
  if (events !== expected) throw new Error(`${events} events were handled; expected ${expected}.`);
  return events;
}

async function workerCases(host: Host, keys: number): Promise<Case[]> {
  const { pool } = host;
  const events = keys * RUN;
  const backlog = await openBacklog(pool, "worker_backlog");
  let handled = 0;
  const worker = workerOf(backlog, host, () => handled++);
  const batches = await openBacklog(pool, "worker_batch");
  const batch = batchWorkerOf(batches, host, (some) => (handled += some));
  // Both register their handlers before anything is stored for them.
  await worker.drain();
  await batch.drain();
  const drain = (by: Worker, expected = events): Promise<number> => drained(by, expected, () => handled);
  const batched = keys * BATCH;
  return [
    drainCase(WORKER.runs, { fill: () => backlog.fill(events, keys), drain: () => drain(worker) }),
    drainCase(WORKER.single, { fill: () => backlog.fill(events, events), drain: () => drain(worker) }),
    drainCase(WORKER.batch, { fill: () => batches.fill(batched, keys), drain: () => drain(batch, batched) }),
  ];
}

async function storedCase(pool: Pool): Promise<LoadCase> {
  const backlog = await openBacklog(pool, "worker_stored");
  const supply = new SignedSupply(orderedIds());
  return {
    kind: "load",
    group: "receipts",
    name: WORKER.stored,
    callers: 1000,
    beforeTurn: async () => {
      await backlog.empty();
      supply.refill();
    },
    call: async () => expectVerdict(await backlog.receiver.receive(SOURCE, supply.take()), "stored"),
  };
}

function besideCases({ pool, count }: Host): readonly Case[] {
  const store = postgresStore({ client: pool });
  const nextId = orderedIds();
  const load = (name: string, call: (id: string, key: string) => Promise<unknown>): LoadCase => {
    let calls = 0;
    return {
      kind: "load",
      group: "receipts",
      name,
      callers: CALLERS,
      beforeTurn: async () => void (await pool.query("truncate posthorn.inbox, common.webhook_inbox")),
      call: () => call(nextId(), `key_${calls++ % KEYS}`),
    };
  };
  return [
    load(WORKER.common, (id, key) => commonTransaction(pool, id, (client) => count(client, key, 1))),
    load(WORKER.accept, (id, key) => acceptOne(store, id, (tx) => count(tx, key, 1))),
  ];
}

/** Events that are stored first, and handled by a worker in transactions of the host. */
export const suite: Suite = {
  plans: { full, quick },
  ratios,
  limits: [],
  unavailable() {
    const resolved = import.meta.resolve("posthorn/postgres");
    if (resolved.includes("/dist/")) return undefined;
    return `posthorn/postgres is ${resolved}; what is measured is the built package, so run npm run build`;
  },
  async cases(context) {
    const { pool } = await openBench(context);
    await createCommonTables(pool);
    const keys = context.quick ? QUICK_KEYS : KEYS;
    const host = await openHost(pool, Math.max(KEYS, keys * RUN));
    return [...besideCases(host), await storedCase(pool), ...(await workerCases(host, keys))];
  },
};
