import type { Case, Ratio, SuiteContext } from "../../suite.js";
import { noRedis, startRedis } from "../../../test/services/redis-server.js";
import type { Bench } from "../inbox/durable-postgres.js";
import { openBullMq } from "./bullmq-queue.js";
import { drainCase, rawCase, wholeCase } from "./drain-cases.js";
import type { Named } from "./drain-cases.js";
import { openGraphile } from "./graphile-queue.js";
import { openPostgresOutbox } from "./outbox-tables.js";
import { openPgBoss } from "./pg-boss-queue.js";
import type { Queue, QueueParts } from "./queue.js";
import { queueCase } from "./queue.js";
import type { ReceivingServer } from "./receiving-server.js";
import type { Post } from "./signed-posts.js";
import { IN_FLIGHT } from "./signed-posts.js";
import { openSqliteOutbox } from "./sqlite-outbox.js";

export const DELIVERY = {
  raw: "raw signed undici loop",
  drain: "postgres, 1,000 keys, drain",
  whole: "postgres, 1,000 keys, whole",
  sqlite: "sqlite, 1,000 keys, drain",
  pgBoss: "pg-boss, unordered",
  graphile: "graphile-worker, unordered",
  bullMq: "bullmq on Redis, unordered",
  pgBossBatches: "pg-boss, unordered, in batches",
  graphileLocal: "graphile-worker, unordered, local queue",
  graphileBatches: "graphile-worker, unordered, local queue, in batches",
  rawSequential: "raw loop, one at a time",
  hot: "postgres, one key, drain",
} as const;

export const deliveryRatios: readonly Ratio[] = [
  { name: "postgres drain / raw loop", of: DELIVERY.drain, to: DELIVERY.raw, goal: ">= 0.5" },
  { name: "postgres whole / raw loop", of: DELIVERY.whole, to: DELIVERY.raw },
  { name: "sqlite drain / raw loop", of: DELIVERY.sqlite, to: DELIVERY.raw, goal: ">= 0.4" },
  { name: "one key / raw loop, one at a time", of: DELIVERY.hot, to: DELIVERY.rawSequential, goal: ">= 0.5" },
  // Both of them: that is the better one.
  { name: "postgres drain / pg-boss", of: DELIVERY.drain, to: DELIVERY.pgBoss, goal: ">= 4" },
  { name: "postgres drain / graphile-worker", of: DELIVERY.drain, to: DELIVERY.graphile, goal: ">= 4" },
  { name: "postgres drain / bullmq", of: DELIVERY.drain, to: DELIVERY.bullMq, goal: ">= 1" },
  { name: "postgres drain / pg-boss in batches", of: DELIVERY.drain, to: DELIVERY.pgBossBatches },
  { name: "postgres drain / graphile-worker, local queue", of: DELIVERY.drain, to: DELIVERY.graphileLocal },
  { name: "postgres drain / graphile-worker in batches", of: DELIVERY.drain, to: DELIVERY.graphileBatches },
];

const KEYS = 1000;

const named = (name: string): Named => ({ name, group: "drain" });
const withOneKey = (name: string): Named => ({ name, group: "one key" });

export interface DeliveryParts {
  readonly context: SuiteContext;
  readonly bench: Bench;
  readonly server: ReceivingServer;
  readonly post: Post;
  readonly url: string;
}

/** How many events a turn drains: enough that opening connections and warming up are a small part of it. */
function sizesOf(quick: boolean) {
  const divisor = quick ? 10 : 1;
  return {
    many: { events: 20_000 / divisor, keys: KEYS },
    slow: { events: 5000 / divisor, keys: KEYS },
    hot: { events: 2500 / divisor, keys: 1 },
  };
}

/** Signed posts of a backlog, by us and by others. */
export async function deliveryCases(parts: DeliveryParts): Promise<Case[]> {
  const { context, bench, server, post } = parts;
  const { many, hot } = sizesOf(context.quick);
  const lanes = await openPostgresOutbox(bench.pool, "lanes", server);
  const sqlite = await openSqliteOutbox(context, server);
  return [
    rawCase(named(DELIVERY.raw), post, { ...many, inFlight: IN_FLIGHT }),
    drainCase(named(DELIVERY.drain), server, lanes, many),
    wholeCase(named(DELIVERY.whole), server, lanes, many),
    drainCase(named(DELIVERY.sqlite), server, sqlite, many),
    ...queueCases(parts),
    await bullMqCase(parts),
    rawCase(withOneKey(DELIVERY.rawSequential), post, { ...hot, inFlight: 1 }),
    drainCase(withOneKey(DELIVERY.hot), server, lanes, hot),
  ];
}

/**
 * Each as it comes, with every event fetched or recorded by itself; and, for those who tune it, with all that it can do
 * in batches.
 */
function queueCases({ context, bench, server, post, url }: DeliveryParts): Case[] {
  const { many, slow } = sizesOf(context.quick);
  const pool = bench.poolOf(20);
  const single = { context, post, completes: "one by one" } as const;
  const batches = { context, post, completes: "in batches" } as const;
  const pgBoss = (parts: QueueParts, schema: string) => (): Promise<Queue> =>
    openPgBoss(parts, { url, schema });
  const graphile =
    (parts: QueueParts, schema: string, localQueue = true) =>
    (): Promise<Queue> =>
      openGraphile(parts, { pool, schema, localQueue });
  return [
    queueCase({ ...named(DELIVERY.pgBoss), ...slow }, server, pgBoss(single, "boss")),
    queueCase({ ...named(DELIVERY.pgBossBatches), ...many }, server, pgBoss(batches, "boss_batches")),
    queueCase({ ...named(DELIVERY.graphile), ...slow }, server, graphile(single, "graphile", false)),
    queueCase({ ...named(DELIVERY.graphileLocal), ...slow }, server, graphile(single, "graphile_local")),
    queueCase({ ...named(DELIVERY.graphileBatches), ...many }, server, graphile(batches, "graphile_batches")),
  ];
}

async function bullMqCase({ context, server, post }: DeliveryParts): Promise<Case> {
  const redis = await startRedis();
  if (redis) context.onClose(() => redis.stop());
  const { many } = sizesOf(context.quick);
  const missing = redis ? undefined : noRedis;
  return queueCase({ ...named(DELIVERY.bullMq), missing, ...many }, server, () =>
    openBullMq({ context, post, completes: "one by one" }, Number(new URL(redis?.url ?? "").port)),
  );
}
