import { Redis } from "ioredis";
import type { RedisClient } from "posthorn/redis";
import { createClient, createClientPool } from "redis";

/** A connected client, and how to end it. */
export interface Connected {
  readonly client: RedisClient;
  close(): Promise<void>;
}

/** Every kind of client that redisDedup takes. */
export const CLIENTS: Readonly<Record<string, (url: string) => Promise<Connected>>> = {
  ioredis: connectIoredis,
  "ioredis with RESP2 and a prefix of its own": (url) =>
    connectIoredis(url, { protocol: 2, keyPrefix: "host:" }),
  redis: connectNodeRedis,
  "redis with a pool": async (url) => {
    const pool = createClientPool({ url });
    await pool.connect();
    return { client: pool, close: () => Promise.resolve(pool.destroy()) };
  },
};

export async function connectIoredis(url: string, options: object = {}): Promise<Connected> {
  const client = new Redis(url, { lazyConnect: true, ...options });
  // Told to nobody, it would end the test's process.
  client.on("error", () => undefined);
  await client.connect();
  return { client, close: () => Promise.resolve(client.disconnect()) };
}

export async function connectNodeRedis(url: string, options: object = {}): Promise<Connected> {
  const client = createClient({ url, ...options });
  client.on("error", () => undefined);
  await client.connect();
  return { client, close: () => Promise.resolve(client.destroy()) };
}
