import type { Pool } from "pg";
import { createReceiver } from "posthorn";
import type { Receiver } from "posthorn";
import { postgresStore } from "posthorn/postgres";
import { migrate, sqliteStore } from "posthorn/sqlite";
import type { Case, LoadCase, Ratio, SuiteContext } from "../../suite.js";
import type { Bench } from "./durable-postgres.js";
import { orderedIds, randomIds } from "./event-ids.js";
import type { Fill, IdOrder } from "./filled-inbox.js";
import { fillPostgres, fillSqlite } from "./filled-inbox.js";
import { expectVerdict, shopVerifier, SignedSupply, SOURCE } from "./signed-events.js";
import { openFile } from "./sqlite-cases.js";

const LARGE = 5_000_000;
const MODEST = 100_000;

export const SIZE = {
  empty: "inbox empty, ordered ids",
  modest: "inbox of 100,000 rows, ordered ids",
  large: "inbox of 5 M rows, ordered ids",
  emptyRandom: "inbox empty, random ids",
  largeRandom: "inbox of 5 M rows, random ids",
  emptySqlite: "sqlite inbox empty, ordered ids",
  largeSqlite: "sqlite inbox of 5 M rows, ordered ids",
} as const;

// The rate of the empty one over that of the full one is the cost of an event in the full over that in the empty.
export const sizeRatios: readonly Ratio[] = [
  { name: "cost at 5 M rows / empty, ordered ids", of: SIZE.empty, to: SIZE.large, goal: "<= 1.3" },
  { name: "cost at 100,000 rows / empty, ordered ids", of: SIZE.empty, to: SIZE.modest },
  { name: "cost at 5 M rows / empty, random ids", of: SIZE.emptyRandom, to: SIZE.largeRandom },
  { name: "cost at 5 M rows / empty, sqlite", of: SIZE.emptySqlite, to: SIZE.largeSqlite },
];

const CALLERS = 64;

/** An inbox of some size. */
interface Opened {
  readonly receiver: Receiver;
  /** Brings it back to its size before a turn, where the last one has changed it by much. */
  readonly reset: () => void | Promise<void>;
}

/** The whole way of an event whose handler does nothing, so that only the inbox is paid for. */
export function tableSizeCases(context: SuiteContext, { pool }: Bench): Case[] {
  const say = (text: string): void => context.say(text);
  const postgres = (name: string, schema: string, { rows, order }: Omit<Fill, "say">): LoadCase =>
    sizedCase(name, order, () => openPostgres(pool, schema, { rows, order, say }));
  const sqlite = (name: string, rows: number): LoadCase =>
    sizedCase(name, "ordered", () => openSqlite(context, { rows, order: "ordered", say }));
  return [
    postgres(SIZE.empty, "empty_ordered", { rows: 0, order: "ordered" }),
    postgres(SIZE.modest, "modest_ordered", { rows: MODEST, order: "ordered" }),
    postgres(SIZE.large, "large_ordered", { rows: LARGE, order: "ordered" }),
    postgres(SIZE.emptyRandom, "empty_random", { rows: 0, order: "random" }),
    postgres(SIZE.largeRandom, "large_random", { rows: LARGE, order: "random" }),
    sqlite(SIZE.emptySqlite, 0),
    sqlite(SIZE.largeSqlite, LARGE),
  ];
}

/** Opened in its setup, because filling takes minutes and a plan may leave the case out. */
function sizedCase(name: string, order: IdOrder, open: () => Promise<Opened>): LoadCase {
  const supply = new SignedSupply(order === "random" ? randomIds() : orderedIds());
  let opened: Opened | undefined;
  return {
    kind: "load",
    group: "table size",
    name,
    callers: CALLERS,
    async setup() {
      opened = await open();
    },
    async beforeTurn() {
      await opened?.reset();
      supply.refill();
    },
    async call() {
      const reply = await opened?.receiver.receive(SOURCE, supply.take());
      expectVerdict(reply ?? { status: 0 }, "applied");
    },
  };
}

async function openPostgres(pool: Pool, schema: string, fill: Fill): Promise<Opened> {
  await fillPostgres(pool, schema, fill);
  return {
    receiver: createReceiver({
      store: postgresStore({ client: pool, schema }),
      sources: { [SOURCE]: shopVerifier() },
      handlers: { "*": () => undefined },
    }),
    async reset() {
      if (fill.rows === 0) await pool.query(`truncate ${schema}.inbox`);
    },
  };
}

async function openSqlite(context: SuiteContext, fill: Fill): Promise<Opened> {
  const db = openFile(context, "inbox");
  await migrate(db);
  fillSqlite(db, fill);
  return {
    receiver: createReceiver({
      store: sqliteStore({ db }),
      sources: { [SOURCE]: shopVerifier() },
      handlers: { "*": () => () => undefined },
    }),
    reset() {
      if (fill.rows === 0) db.exec("delete from posthorn_inbox");
      db.pragma("wal_checkpoint(truncate)");
    },
  };
}
