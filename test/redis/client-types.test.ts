import type { Cluster, Redis } from "ioredis";
import type { RedisClient } from "posthorn/redis";
import { redisDedup } from "posthorn/redis";
import type { createClient, createClientPool, createCluster, createSentinel } from "redis";
import { describe, expect, expectTypeOf, it } from "vitest";

describe("the client of redisDedup", () => {
  it("may be any client of ioredis or of redis, by its real type", () => {
    expectTypeOf<Redis>().toExtend<RedisClient>();
    expectTypeOf<Cluster>().toExtend<RedisClient>();
    expectTypeOf<ReturnType<typeof createClient>>().toExtend<RedisClient>();
    expectTypeOf<ReturnType<typeof createClientPool>>().toExtend<RedisClient>();
    expectTypeOf<ReturnType<typeof createCluster>>().toExtend<RedisClient>();
    expectTypeOf<ReturnType<typeof createSentinel>>().toExtend<RedisClient>();
  });

  it.each([[undefined], [null], ["redis://localhost"], [{}], [{ eval: () => undefined }]])(
    "is refused at construction when it is %j",
    (client) => {
      const wrong = (): unknown => redisDedup({ client: client as unknown as RedisClient });
      expect(wrong).toThrow(expect.objectContaining({ code: "store_client_unsupported" }) as Error);
      expect(wrong).toThrow(/ioredis.*node-redis/);
    },
  );

  it.each([
    [{ prefix: "" }, /prefix is ""/],
    [{ claimTtlS: 0 }, /claimTtlS is 0; expected seconds above 0/],
    [{ claimTtlS: Number.NaN }, /claimTtlS is NaN/],
    [{ timeoutMs: -1 }, /timeoutMs is -1; expected milliseconds/],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, /timeoutMs is Infinity/],
  ])("stands beside options that are checked at construction: %j", (options, message) => {
    const client = { eval: () => Promise.resolve(), configGet: () => Promise.resolve() };
    expect(() => redisDedup({ client, ...options })).toThrow(message);
  });

  it("is not asked about an id or a ttl that cannot be kept", async () => {
    const client = { eval: () => Promise.reject(new Error("asked")), configGet: () => Promise.resolve() };
    const ids = redisDedup({ client });
    const wrong = { code: "inbox_option_invalid" };
    await expect(ids.record("", 1)).rejects.toMatchObject(wrong);
    await expect(ids.record("evt_1", Number.NaN)).rejects.toMatchObject(wrong);
    await expect(ids.mark("evt_1", 0)).rejects.toMatchObject(wrong);
    await expect(ids.claim("evt_1", { ttl: -1 })).rejects.toMatchObject(wrong);
    await expect(ids.seen("")).rejects.toMatchObject(wrong);
  });
});
