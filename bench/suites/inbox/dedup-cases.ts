import type { Pool } from "pg";
import { dedup } from "posthorn";
import type { DedupAdapter } from "posthorn";
import { postgresDedup } from "posthorn/postgres";
import type { Case, LoadCase, Ratio } from "../../suite.js";
import type { Bench } from "./durable-postgres.js";
import type { IdSource } from "./event-ids.js";
import { orderedIds } from "./event-ids.js";
import { LOCKED, ROWS_PER_STATEMENT, UNLOCKED, writeBatch } from "./raw-batches.js";
import { createCommonTables, commonTransaction, singleInsert } from "./common-pattern.js";

export const DEDUP = {
  ours64: "dedup, 64 callers",
  ours1000: "dedup, 1,000 callers",
  common: "common transaction, 64 callers",
  single: "single insert, 64 callers",
  rawLocked: "raw batches of 200, our statement",
  rawUnlocked: "raw batches of 200, insert only",
} as const;

export const dedupRatios: readonly Ratio[] = [
  {
    name: "dedup of 64 callers / common transaction",
    of: DEDUP.ours64,
    to: DEDUP.common,
    goal: ">= 10",
  },
  {
    name: "dedup of 1,000 callers / common transaction",
    of: DEDUP.ours1000,
    to: DEDUP.common,
    goal: ">= 20",
  },
  {
    name: "dedup of 1,000 callers / raw, our statement",
    of: DEDUP.ours1000,
    to: DEDUP.rawLocked,
    goal: ">= 0.5",
  },
  { name: "dedup of 1,000 callers / raw, insert only", of: DEDUP.ours1000, to: DEDUP.rawUnlocked },
  { name: "dedup of 64 callers / single insert", of: DEDUP.ours64, to: DEDUP.single },
];

const TTL_S = 14 * 24 * 3600;
const RAW_CONNECTIONS = 4;

/** One call as a host makes it; an id that was never given must be first. */
export async function recordFirst(adapter: DedupAdapter, nextId: IdSource): Promise<void> {
  const { duplicate } = await dedup("order.paid", nextId(), { ttl: TTL_S, adapter });
  if (duplicate) throw new Error("An id that is new was called a duplicate.");
}

/** Remembering ids alone, without a handler. */
export async function dedupCases({ pool, poolOf }: Bench): Promise<Case[]> {
  await createCommonTables(pool);
  const nextId = orderedIds();
  const ours = postgresDedup({ client: pool });
  const raw = postgresDedup({ client: pool, schema: "raw" });
  await raw.migrate();
  const rawPool = poolOf(RAW_CONNECTIONS);
  const load = (name: string, callers: number, call: () => Promise<unknown>): LoadCase => ({
    kind: "load",
    group: "dedup",
    name,
    callers,
    call,
    beforeTurn: () => emptyTables(pool),
  });
  const rawLoad = (name: string, statement: string): Case => ({
    ...load(name, RAW_CONNECTIONS, () => writeBatch(rawPool, statement, nextId)),
    operationsPerCall: ROWS_PER_STATEMENT,
  });
  return [
    load(DEDUP.ours64, 64, () => recordFirst(ours, nextId)),
    load(DEDUP.ours1000, 1000, () => recordFirst(ours, nextId)),
    load(DEDUP.common, 64, () => commonTransaction(pool, nextId())),
    load(DEDUP.single, 64, () => singleInsert(pool, nextId())),
    rawLoad(DEDUP.rawLocked, LOCKED),
    rawLoad(DEDUP.rawUnlocked, UNLOCKED),
  ];
}

/** Everybody begins with empty tables. */
async function emptyTables(pool: Pool): Promise<void> {
  await pool.query(
    "truncate posthorn.dedup, raw.dedup, common.webhook_inbox, common.processed_webhook_events",
  );
}
