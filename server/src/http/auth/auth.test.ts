import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { apiBench, closeBenches } from "../../../../test/server/api-bench.js";
import type { ApiBench } from "../../../../test/server/api-bench.js";
import { FailedTokens } from "./failed-tokens.js";
import { newToken } from "./new-token.js";

let bench: ApiBench;
beforeAll(async () => {
  bench = await apiBench({ settings: { failedTokensPerMinute: 3, behindProxy: true } });
});
afterAll(closeBenches);
// A wrong token of one test must not be one of another.
beforeEach(() => bench.clock.advance(120_000));

const asked = (authorization: string | undefined, method = "GET", from = "203.0.113.1") =>
  bench.app.inject({
    method: method as "GET",
    url: "/api/v1/tokens",
    headers: {
      host: "localhost",
      "x-forwarded-for": from,
      ...(authorization !== undefined && { authorization }),
    },
  });

describe("the API", () => {
  it("answers nobody without a token, and says which one it wants", async () => {
    for (const header of [
      undefined,
      "",
      "Basic abc",
      "Bearer",
      "Bearer a b",
      "Bearer phk_ü",
      `Bearer ${"x".repeat(300)}`,
    ]) {
      const answer = await asked(header);
      expect([answer.statusCode, answer.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
    }
  });

  it("does not count requests without a token: a browser must not lock out its owner", async () => {
    for (let n = 0; n < 10; n++) await asked(undefined);
    expect((await asked(`Bearer ${await bench.token("read")}`)).statusCode).toBe(200);
  });

  it("lets a token that may only read do nothing else", async () => {
    const reader = bench.client(await bench.token("read"));
    expect((await reader.endpoints.list()).items).toEqual([]);
    const denied = [
      reader.tokens.create({ name: "n", scope: "full" }),
      reader.tokens.remove("tok_1"),
      reader.endpoints.update("ep_1", { order: "none" }),
      reader.endpoints.test("ep_1"),
      reader.events.publish({ type: "t", data: 1 }),
    ];
    for (const each of await Promise.allSettled(denied)) {
      expect(each).toMatchObject({ reason: { code: "api_unauthorised", detail: { code: "forbidden" } } });
    }
  });

  it("takes a token until it expires, also one that it has just seen", async () => {
    const token = await bench.token("read", new Date(bench.clock.now() + 1000));
    expect((await asked(`Bearer ${token}`)).statusCode).toBe(200);
    await bench.clock.advance(1000);
    const answer = await asked(`Bearer ${token}`);
    expect([answer.statusCode, answer.json().detail]).toEqual([
      401,
      "The token read has expired; make a new one.",
    ]);
  });

  it("asks the store once in a few seconds, and writes the time of use once a minute", async () => {
    const find = vi.spyOn(bench.parts.registry, "findToken");
    const touch = vi.spyOn(bench.parts.registry, "touchToken");
    const token = await bench.token("read");
    for (let n = 0; n < 5; n++) await asked(`Bearer ${token}`);
    expect([find.mock.calls.length, touch.mock.calls.length]).toEqual([1, 1]);
    await bench.clock.advance(59_000);
    await asked(`Bearer ${token}`);
    expect([find.mock.calls.length, touch.mock.calls.length]).toEqual([2, 1]);
    await bench.clock.advance(1000);
    await asked(`Bearer ${token}`);
    expect(touch.mock.calls.length).toBe(2);
    vi.restoreAllMocks();
  });

  it("answers though the time of use cannot be written", async () => {
    const touch = vi.spyOn(bench.parts.registry, "touchToken").mockRejectedValue(new Error("read-only"));
    expect((await asked(`Bearer ${await bench.token("read")}`)).statusCode).toBe(200);
    touch.mockRestore();
  });

  it("forgets a token that was taken back at once", async () => {
    const client = bench.client();
    const { token, id } = await client.tokens.create({ name: "short", scope: "read" });
    expect((await asked(`Bearer ${token}`)).statusCode).toBe(200);
    await client.tokens.remove(id);
    expect((await asked(`Bearer ${token}`)).statusCode).toBe(401);
  });

  it("takes no more guesses of an address that has failed, and goes on with those that are known", async () => {
    const known = await bench.token("read");
    const late = await bench.token("read");
    await asked(`Bearer ${known}`);
    for (let n = 0; n < 3; n++) expect((await asked(`Bearer phk_wrong${n}`)).statusCode).toBe(401);
    const refused = await asked(`Bearer ${late}`);
    expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([429, "20"]);
    expect((await asked(`Bearer ${known}`)).statusCode).toBe(200);
    expect((await asked(`Bearer ${late}`, "GET", "203.0.113.2")).statusCode).toBe(200);
    await bench.clock.advance(20_000);
    expect((await asked(`Bearer phk_wrong`)).statusCode).toBe(401);
    expect((await asked(`Bearer phk_wrong`)).statusCode).toBe(429);
  });

  it("does not believe what the caller writes before the proxy's own entry", async () => {
    for (let n = 0; n < 3; n++) await asked("Bearer phk_wrong", "GET", `198.51.100.${n}, 203.0.113.9`);
    expect((await asked("Bearer phk_wrong", "GET", "198.51.100.77, 203.0.113.9")).statusCode).toBe(429);
  });

  it("logs failures without the token", async () => {
    await asked("Bearer phk_mistyped");
    expect(JSON.stringify(bench.lines)).not.toContain("phk_mistyped");
    expect(bench.lines).toContainEqual({
      level: "warn",
      text: "token unknown",
      fields: { address: "203.0.113.1", token: undefined },
    });
  });
});

const scrape = (token: string) =>
  bench.app.inject({
    url: "/metrics",
    headers: { host: "localhost", "x-forwarded-for": "203.0.113.5", authorization: `Bearer ${token}` },
  });

describe("metrics while the database is away", () => {
  it("are read with a token that was good of late, and by nobody else; nothing else is", async () => {
    const [token, fresh] = [await bench.token("read"), await bench.token("read")];
    expect((await scrape(token)).statusCode).toBe(200);
    await bench.clock.advance(60_000);
    const away = vi.spyOn(bench.parts.registry, "findToken").mockRejectedValue(new Error("away"));
    expect((await scrape(token)).statusCode).toBe(200);
    expect((await scrape(fresh)).statusCode).toBe(500);
    expect((await asked(`Bearer ${token}`)).statusCode).toBe(500);
    await bench.clock.advance(3_600_000);
    expect((await scrape(token)).statusCode).toBe(500);
    away.mockRestore();
  });
});

describe("failed tokens", () => {
  it("are counted for all the addresses that one caller of IPv6 has", () => {
    const failed = new FailedTokens(1, () => 0);
    failed.count("2001:db8:1:2::1");
    expect(failed.waitS("2001:db8:1:2:ffff::9")).toBe(60);
    expect(failed.waitS("2001:db8:1:3::1")).toBe(0);
    failed.count("::ffff:192.0.2.1");
    expect(failed.waitS("192.0.2.1")).toBe(60);
  });

  it("of very many addresses fill no memory: the oldest are forgotten", () => {
    const failed = new FailedTokens(1, () => 0);
    for (let n = 0; n <= 10_000; n++) failed.count(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
    expect([failed.waitS("10.0.0.0"), failed.waitS("10.0.0.1")]).toEqual([0, 60]);
  });
});

it("a new token has 256 random bits, and its record does not hold it", () => {
  const wish = { name: "n", scope: "full", expiresAt: undefined } as const;
  const [one, other] = [newToken(wish, new Date(0)), newToken(wish, new Date(0))];
  expect(one.token).toMatch(/^phk_[\w-]{43}$/);
  expect(one.token).not.toBe(other.token);
  expect(JSON.stringify(one.record)).not.toContain(one.token);
  expect(one.record.hash).toHaveLength(32);
});
