import { Cluster, Redis } from "ioredis";
import type { Signal } from "posthorn";
import { redisDedup } from "posthorn/redis";
import type { RedisClient } from "posthorn/redis";
import { createCluster } from "redis";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { freePort } from "../services/spawned.js";
import { skipFor } from "../skip-reason.js";
import { openLossyProxy } from "./lossy-proxy.js";
import type { LossyProxy } from "./lossy-proxy.js";
import { openOwnRedis } from "./open-redis.js";
import type { Connected } from "./redis-clients.js";
import { connectIoredis, connectNodeRedis } from "./redis-clients.js";

const { url, missing } = await openOwnRedis();
const durable = await openOwnRedis(["--appendonly", "yes", "--appendfsync", "always"]);
// Its bus would else listen 10,000 above the port, where somebody may be or no port is.
const bus = ["--cluster-port", String(await freePort()), "--cluster-announce-ip", "127.0.0.1"];
const clustered = await openOwnRedis(["--cluster-enabled", "yes", ...bus]);

const CLIENTS: Readonly<Record<string, (url: string) => Promise<Connected>>> = {
  ioredis: connectIoredis,
  "ioredis that sends nothing again": (at) =>
    connectIoredis(at, { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 }),
  redis: connectNodeRedis,
};

describe.each(Object.entries(CLIENTS))("redisDedup on %s", skipFor(missing), (_name, connect) => {
  let admin: Redis;
  let proxy: LossyProxy;
  let connection: Connected;

  beforeAll(async () => {
    admin = new Redis(url);
    proxy = await openLossyProxy(url);
    connection = await connect(proxy.url);
  });
  afterEach(async () => {
    await admin.flushall();
  });
  afterAll(async () => {
    await connection.close();
    await proxy.close();
    admin.disconnect();
  });

  it("stays first when the answer is lost: a blind second try would call it a duplicate, and lose the event", async () => {
    const ids = redisDedup({ client: connection.client });
    const lostBefore = proxy.lost;
    proxy.loseAnswerTo("posthorn:dedup::evt_1");
    expect(await ids.record("evt_1", 60)).toEqual({ duplicate: false });
    expect(proxy.lost).toBe(lostBefore + 1);
    expect(await ids.record("evt_1", 60)).toEqual({ duplicate: true });
  });

  it("holds its claim, and has confirmed it, when the answers are lost", async () => {
    const ids = redisDedup({ client: connection.client });
    proxy.loseAnswerTo("posthorn:dedup::evt_1");
    const claim = await ids.claim("evt_1");
    expect(claim.duplicate).toBe(false);
    proxy.loseAnswerTo("posthorn:dedup::evt_1");
    if (!claim.duplicate) await claim.confirm();
    expect(await ids.claim("evt_1")).toEqual({ duplicate: true });
  });

  it("gives no verdict when Redis does not answer in time, and the id is first when it comes again", async () => {
    const ids = redisDedup({ client: connection.client, timeoutMs: 50 });
    await admin.client("PAUSE", 300, "ALL");
    const failure = await ids.record("evt_1", 60).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "store_unavailable", message: /no answer within 50 ms/ });
    // What was sent late is taken back; until then the answer may also be late.
    await expect.poll(() => admin.get("posthorn:dedup::evt_1")).toBeNull();
    expect(await redisDedup({ client: connection.client }).record("evt_1", 60)).toEqual({ duplicate: false });
  });

  it("gives no verdict when Redis is full", async () => {
    const ids = redisDedup({ client: connection.client });
    await ids.record("evt_1", 60);
    await admin.config("SET", "maxmemory", "1");
    const failure = await ids.record("evt_2", 60).catch((error: unknown) => error);
    await admin.config("SET", "maxmemory", "0");
    expect(failure).toMatchObject({ code: "store_unavailable", detail: { refusal: "OOM" } });
    expect(failure).toHaveProperty("cause.message", expect.stringContaining("OOM"));
    expect(await ids.record("evt_2", 60)).toEqual({ duplicate: false });
  });

  it("gives no verdict from a replica", async () => {
    const ids = redisDedup({ client: connection.client });
    await admin.replicaof("127.0.0.1", "1");
    const failure = await ids.record("evt_1", 60).catch((error: unknown) => error);
    await admin.replicaof("NO", "ONE");
    expect(failure).toMatchObject({ code: "store_unavailable", detail: { refusal: "READONLY" } });
  });

  it("works on after a restart with an empty dataset, and claims nothing of what it forgot", async () => {
    const ids = redisDedup({ client: connection.client });
    await ids.record("evt_1", 60);
    await admin.flushall();
    await admin.script("FLUSH");
    expect(await ids.record("evt_1", 60)).toEqual({ duplicate: false });
  });
});

describe("redisDedup without a server", skipFor(missing), () => {
  it("throws within its time, whether the client queues, retries or gives up", async () => {
    const client = new Redis("redis://127.0.0.1:1", { retryStrategy: () => 10 });
    client.on("error", () => undefined);
    const ids = redisDedup({ client, timeoutMs: 100 });
    await expect(ids.record("evt_1", 60)).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(ids.claim("evt_1")).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(ids.mark("evt_1", 60)).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(ids.seen("evt_1")).rejects.toMatchObject({ code: "store_unavailable" });
    client.disconnect();
  });
});

describe.each([
  ["ioredis", connectIoredis],
  ["redis", connectNodeRedis],
])("what redisDedup on %s reports of the server's settings", skipFor(missing), (name, connect) => {
  const signals: Signal[] = [];
  const observer = (signal: Signal): void => void signals.push(signal);
  afterEach(() => {
    signals.length = 0;
  });

  it("is every setting that takes a promise back", async () => {
    const connection = await connect(url);
    const lost = await redisDedup({ client: connection.client, observer }).check();
    await connection.close();
    // The append-only file is off, so that a restart forgets everything.
    expect(lost).toEqual([
      { setting: "appendonly", value: "no", expected: "yes" },
      { setting: "appendfsync", value: "everysec", expected: "always" },
    ]);
    expect(signals).toMatchObject(lost);
    expect(signals[0]).toMatchObject({ kind: "store_promise_lost", store: "redis" });
  });

  it("is nothing where all is as it should be", async () => {
    const connection = await connect(durable.url);
    expect(await redisDedup({ client: connection.client, observer }).check()).toEqual([]);
    await connection.close();
    expect(signals).toEqual([]);
  });

  it("is told once, with the first call, which does not wait for it", async () => {
    const connection = await connect(url);
    const ids = redisDedup({ client: connection.client, observer });
    await Promise.all([ids.record("evt_1", 60), ids.record("evt_2", 60)]);
    await ids.record("evt_3", 60);
    await expect.poll(() => signals.length).toBe(2);
    await connection.close();
  });

  it("is unknown where CONFIG is forbidden, as on managed services", async () => {
    const admin = new Redis(url);
    await admin.acl("SETUSER", "limited", "on", ">secret", "~*", "+@all", "-config");
    const limited = new URL(url);
    limited.username = "limited";
    limited.password = "secret";
    const connection = await connect(limited.href);
    const ids = redisDedup({ client: connection.client, observer });
    expect((await ids.check()).map(({ value }) => value)).toEqual(["unknown", "unknown", "unknown"]);
    expect((await ids.record(`limited on ${name}`, 60)).duplicate).toBe(false);
    await connection.close();
    admin.disconnect();
  });
});

describe("redisDedup on a cluster", skipFor(clustered.missing), () => {
  beforeAll(async () => {
    const admin = new Redis(clustered.url);
    await admin.cluster("ADDSLOTSRANGE", 0, 16_383);
    await vi.waitUntil(async () => (await admin.cluster("INFO")).includes("cluster_state:ok"), 10_000);
    admin.disconnect();
  });

  const { hostname, port } = new URL(clustered.url || "redis://127.0.0.1:1");
  const clusters: Readonly<Record<string, () => Promise<Connected>>> = {
    ioredis: () => {
      const client: RedisClient & Cluster = new Cluster([{ host: hostname, port: Number(port) }]);
      return Promise.resolve({ client, close: () => Promise.resolve(client.disconnect()) });
    },
    redis: async () => {
      const client = createCluster({ rootNodes: [{ url: clustered.url }] });
      await client.connect();
      return { client, close: () => Promise.resolve(client.destroy()) };
    },
  };

  it.each(Object.keys(clusters))("of %s keeps each id on its own node", async (name) => {
    const connection = await clusters[name]?.();
    if (connection === undefined) throw new Error(name);
    const ids = redisDedup({ client: connection.client, prefix: `${name}:` });
    for (const id of ["a", "b", "{c}d", "caf\u00e9"]) {
      expect(await ids.record(id, 60)).toEqual({ duplicate: false });
      expect(await ids.record(id, 60)).toEqual({ duplicate: true });
    }
    const claim = await ids.claim("claimed");
    if (!claim.duplicate) await claim.confirm();
    expect(await ids.claim("claimed")).toEqual({ duplicate: true });
    expect((await ids.check()).map(({ setting }) => setting)).toContain("appendonly");
    await connection.close();
  });
});
