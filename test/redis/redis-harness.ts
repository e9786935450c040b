import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { redisDedup } from "posthorn/redis";
import type { DedupHarness } from "posthorn/testing";
import type { Connected } from "./redis-clients.js";

const HOUR_S = 3600;

/** A harness around redisDedup with one kind of client: two connections, as if in two processes. */
export function redisHarness(url: string, connect: (url: string) => Promise<Connected>): DedupHarness {
  return {
    capabilities: {
      sharesHostTransaction: false,
      survivesPowerLoss: false,
      multiProcess: true,
      clock: "store",
    },
    exactTime: false,
    async open() {
      const prefix = `posthorn:${randomUUID()}:`;
      const connections = [await connect(url), await connect(url)];
      const admin = new Redis(url);
      return {
        adapters: connections.map(({ client }) => redisDedup({ client, prefix })),
        time: { tickS: HOUR_S, pass: (ms) => age(admin, `*${prefix}*`, ms) },
        async close() {
          for (const connection of connections) await connection.close();
          admin.disconnect();
        },
      };
    },
  };
}

/** Moves the keys into the past, which is as good as waiting and takes no time. */
async function age(admin: Redis, pattern: string, ms: number): Promise<void> {
  for await (const keys of admin.scanStream({ match: pattern })) {
    for (const key of keys as string[]) await admin.pexpire(key, (await admin.pttl(key)) - ms);
  }
}
