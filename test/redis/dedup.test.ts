import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { isPosthornError } from "posthorn";
import { redisDedup } from "posthorn/redis";
import type { RedisClaim, RedisDedup, RedisDedupOptions } from "posthorn/redis";
import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import { skipFor } from "../skip-reason.js";
import { openRedis } from "./open-redis.js";
import type { Connected } from "./redis-clients.js";
import { CLIENTS } from "./redis-clients.js";

const { url, missing } = await openRedis();
const WEEK_S = 7 * 24 * 3600;

type Held = Extract<RedisClaim, { duplicate: false }>;

/** Claims an id that must be free. */
async function claimed(ids: RedisDedup, id: string, ttl = WEEK_S): Promise<Held> {
  const claim = await ids.claim(id, { ttl });
  if (claim.duplicate) throw new Error(`${id} is a duplicate`);
  return claim;
}

describe.each(Object.entries(CLIENTS))("redisDedup on %s", skipFor(missing), (_name, connect) => {
  let connection: Connected;
  let admin: Redis;
  let prefix = "";
  const make = (options: Partial<RedisDedupOptions> = {}): RedisDedup =>
    redisDedup({ client: connection.client, prefix, ...options });

  beforeAll(async () => {
    connection = await connect(url);
    admin = new Redis(url);
  });
  afterAll(async () => {
    await connection.close();
    admin.disconnect();
  });
  beforeEach(() => {
    prefix = `posthorn:${randomUUID()}:`;
  });

  /** The only key of this test; the host's own prefix may stand before ours. */
  async function onlyKey(): Promise<string> {
    const [key, ...others] = await admin.keys(`*${prefix}*`);
    expect(others).toEqual([]);
    return key ?? "";
  }

  it("says with its type that it cannot share the host's transaction", () => {
    expectTypeOf(make().sharesHostTransaction).toEqualTypeOf<false>();
    expect(make().sharesHostTransaction).toBe(false);
  });

  it("keeps an id for its ttl, to the millisecond, under the prefix and in its stored form", async () => {
    await make().record("evt 1\0", 60.75);
    expect(await onlyKey()).toMatch(new RegExp(`${prefix}:sha256 [0-9a-f]{64}$`));
    const leftMs = await admin.pttl(await onlyKey());
    expect(leftMs).toBeGreaterThan(30_000);
    expect(leftMs).toBeLessThanOrEqual(60_750);
  });

  it("keeps the ids of two scopes apart, also where a scope and an id read like another", async () => {
    const of = (scope: string) => make({ scope });
    const first = [await of("a").record("b:c", WEEK_S), await of("a:b").record("c", WEEK_S)];
    const verdicts = [...first, await make().record("a:b:c", WEEK_S)];
    expect(verdicts.map(({ duplicate }) => duplicate)).toEqual([false, false, false]);
    expect(await of("a").record("b:c", WEEK_S)).toEqual({ duplicate: true });
  });

  it("a claim that was confirmed is a duplicate for the whole ttl", async () => {
    const claim = await claimed(make(), "evt_1");
    expect(await admin.pttl(await onlyKey())).toBeLessThanOrEqual(300_000);
    await claim.confirm();
    expect(await admin.pttl(await onlyKey())).toBeGreaterThan(300_000);
    expect(await make().claim("evt_1", { ttl: WEEK_S })).toEqual({ duplicate: true });
    expect(await make().record("evt_1", WEEK_S)).toEqual({ duplicate: true });
    expect(await make().seen("evt_1")).toBe(true);
  });

  it("a claim that is still open is no duplicate: whoever answered success would lose the event in a crash", async () => {
    await claimed(make(), "evt_1");
    await expect(make().claim("evt_1", { ttl: WEEK_S })).rejects.toMatchObject({ code: "dedup_busy" });
    await expect(make().record("evt_1", WEEK_S)).rejects.toMatchObject({ code: "dedup_busy" });
    expect(await make().seen("evt_1")).toBe(false);
  });

  it("a claim that was released is free for the next delivery", async () => {
    await (await claimed(make(), "evt_1")).release();
    expect(await admin.keys(`*${prefix}*`)).toEqual([]);
    await claimed(make(), "evt_1");
  });

  it("a claim that ran out is free, and can neither confirm nor release what is another's", async () => {
    const late = await claimed(make({ claimTtlS: 0.02 }), "evt_1");
    await expect.poll(() => admin.keys(`*${prefix}*`)).toEqual([]);
    await expect(late.confirm()).rejects.toMatchObject({ code: "claim_lost" });
    expect(await admin.keys(`*${prefix}*`)).toEqual([]);
    const other = await claimed(make(), "evt_1");
    await expect(late.confirm()).rejects.toMatchObject({ code: "claim_lost" });
    await late.release();
    await expect(make().claim("evt_1")).rejects.toMatchObject({ code: "dedup_busy" });
    await other.confirm();
    await late.release();
    expect(await make().claim("evt_1")).toEqual({ duplicate: true });
  });

  it("a claim can be confirmed twice, as after a lost answer, and not be released any more", async () => {
    const { confirm, release } = await claimed(make(), "evt_1");
    await confirm();
    await confirm();
    await release();
    expect(await make().seen("evt_1")).toBe(true);
  });

  it("of all concurrent claims exactly one is held, and the others are told to come again", async () => {
    const claims = await Promise.allSettled(Array.from({ length: 20 }, () => make().claim("evt_1")));
    const held = claims.filter(({ status }) => status === "fulfilled");
    const busy = claims.filter((each) => each.status === "rejected" && isPosthornError(each.reason));
    expect([held.length, busy.length]).toEqual([1, 19]);
  });

  it("an id that was marked after its commit is seen until its ttl has passed", async () => {
    const ids = make();
    expect(await ids.seen("evt_1")).toBe(false);
    await ids.mark("evt_1", WEEK_S);
    expect(await ids.seen("evt_1")).toBe(true);
    expect(await ids.record("evt_1", WEEK_S)).toEqual({ duplicate: true });
    await ids.mark("evt_1", 0.02);
    await expect.poll(() => ids.seen("evt_1")).toBe(false);
  });

  it("an id that was marked is a duplicate to whoever claims it, and takes the claim of whoever was late", async () => {
    const late = await claimed(make(), "evt_1");
    await make().mark("evt_1", WEEK_S);
    await expect(late.confirm()).rejects.toMatchObject({ code: "claim_lost" });
    expect(await make().claim("evt_1")).toEqual({ duplicate: true });
  });
});
