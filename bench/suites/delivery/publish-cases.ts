import type { Pool, PoolClient } from "pg";
import type { Case, LoadCase, Ratio } from "../../suite.js";
import { inTransaction } from "../inbox/durable-postgres.js";
import { BODY, TYPE } from "../inbox/signed-events.js";
import { publication } from "./bench-outbox.js";
import type { BenchOutbox } from "./bench-outbox.js";

export const PUBLISH = {
  inHost: "host transaction + publish",
  plain: "host transaction + plain insert",
  coalesced: "publish without tx, 1,000 callers",
  single: "publish in a transaction each, 64 callers",
} as const;

// The rate of the plain one over that of ours is the cost of ours over that of the plain one.
export const publishRatios: readonly Ratio[] = [
  {
    name: "cost of host transaction + publish / + plain insert",
    of: PUBLISH.plain,
    to: PUBLISH.inHost,
    goal: "<= 1.25",
  },
  { name: "coalesced publish / single commits", of: PUBLISH.coalesced, to: PUBLISH.single, goal: ">= 10" },
];

const KEYS = 1000;
// Fewer than the pool's connections: nobody waits for one.
const HOST_CALLERS = 16;
const SINGLE_CALLERS = 64;
const COALESCED_CALLERS = 1000;

/** What publishing costs its caller; nothing is delivered meanwhile. */
export async function publishCases(pool: Pool, outbox: BenchOutbox<PoolClient>): Promise<Case[]> {
  await pool.query(`
    create schema host;
    create table host.paid_order (
      id bigint generated always as identity primary key, customer text not null, amount integer not null
    );
    create table host.note (
      id bigint generated always as identity primary key, type text not null, key text not null, body bytea not null
    );`);
  const { sender } = outbox;
  let published = 0;
  const next = (): ReturnType<typeof publication> => publication(published++, KEYS);
  const load = (name: string, callers: number, call: () => Promise<unknown>): LoadCase => ({
    kind: "load",
    group: "publish",
    name,
    callers,
    call,
    async beforeTurn() {
      await outbox.empty();
      await pool.query("truncate host.paid_order, host.note");
    },
  });
  return [
    load(PUBLISH.inHost, HOST_CALLERS, () =>
      payOrder(pool, async (tx) => void (await sender.publish(next(), { tx }))),
    ),
    load(PUBLISH.plain, HOST_CALLERS, () => payOrder(pool, (tx) => writeNote(tx, published++))),
    load(PUBLISH.coalesced, COALESCED_CALLERS, () => sender.publish(next())),
    load(PUBLISH.single, SINGLE_CALLERS, () =>
      inTransaction(pool, async (tx) => void (await sender.publish(next(), { tx }))),
    ),
  ];
}

/** A transaction of a host: one row of its own, and something more. */
function payOrder(pool: Pool, more: (tx: PoolClient) => Promise<void>): Promise<void> {
  return inTransaction(pool, async (tx) => {
    await tx.query({
      name: "pay_order",
      text: "insert into host.paid_order (customer, amount) values ($1, $2)",
      values: ["cus_7", 1999],
    });
    await more(tx);
  });
}

/** As many bytes as an event has, in a table with one index. Prepared, as ours is. */
async function writeNote(tx: PoolClient, number: number): Promise<void> {
  await tx.query({
    name: "write_note",
    text: "insert into host.note (type, key, body) values ($1, $2, $3)",
    values: [TYPE, `key_${number % KEYS}`, BODY],
  });
}
