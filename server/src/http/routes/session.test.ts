import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { apiBench, closeBenches } from "../../../../test/server/api-bench.js";
import type { ApiBench } from "../../../../test/server/api-bench.js";
import { CODE_MS, SignInCodes } from "../auth/sign-in-codes.js";

let bench: ApiBench;
let codes: SignInCodes;
beforeAll(async () => {
  const clock = { monotonic: () => bench.clock.monotonic() };
  codes = new SignInCodes(clock);
  bench = await apiBench({ settings: { failedTokensPerMinute: 3 }, codes });
});
afterAll(closeBenches);
// A wrong token of one test must not be one of another.
beforeEach(() => bench.clock.advance(120_000));

const HOST = "127.0.0.1:8710";
const ORIGIN = `http://${HOST}`;

interface Asked {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly url?: string;
  readonly body?: object;
  readonly headers?: Record<string, string>;
}

const ask = ({ method = "GET", url = "/api/v1/session", body, headers = {} }: Asked) =>
  bench.app.inject({ method, url, headers: { host: HOST, ...headers }, ...(body && { payload: body }) });

const signIn = (body: object, headers: Record<string, string> = { origin: ORIGIN }) =>
  ask({ method: "POST", body, headers });

async function cookieOf(token: string): Promise<string> {
  const answer = await signIn({ token });
  expect(answer.statusCode).toBe(201);
  return String(answer.headers["set-cookie"]).split(";", 1)[0] ?? "";
}

describe("a browser that signs in", () => {
  it("gets a cookie that no script reads and no other site sends", async () => {
    const answer = await signIn({ token: await bench.token("full") });
    expect(answer.json()).toMatchObject({ signedIn: true, name: "full", scope: "full" });
    expect(answer.headers["set-cookie"]).toMatch(
      /^posthorn-8710=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
  });

  it("may do with its cookie what its token may do", async () => {
    const cookie = await cookieOf(await bench.token("read"));
    expect((await ask({ url: "/api/v1/endpoints", headers: { cookie } })).statusCode).toBe(200);
    const write = await ask({
      method: "POST",
      url: "/api/v1/endpoints",
      body: { url: "https://example.com" },
      headers: { cookie, origin: ORIGIN },
    });
    expect(write.json()).toMatchObject({ status: 403, code: "forbidden" });
  });

  it("is told that nobody is signed in, without a failure", async () => {
    for (const cookie of ["", "posthorn-8710=short", `posthorn-8710=${"x".repeat(43)}`]) {
      const answer = await ask({ headers: { cookie } });
      expect([answer.statusCode, answer.json().signedIn]).toEqual([200, false]);
    }
  });

  it("signs out, and its cookie is worth nothing", async () => {
    const cookie = await cookieOf(await bench.token("full"));
    const out = await ask({ method: "DELETE", body: {}, headers: { cookie, origin: ORIGIN } });
    expect([out.statusCode, String(out.headers["set-cookie"])]).toEqual([
      204,
      expect.stringContaining("Max-Age=0"),
    ]);
    expect((await ask({ url: "/api/v1/lanes", headers: { cookie } })).statusCode).toBe(401);
  });

  it("is signed out after twelve hours", async () => {
    const cookie = await cookieOf(await bench.token("full"));
    await bench.clock.advance(12 * 3600 * 1000 - 1000);
    expect((await ask({ url: "/api/v1/lanes", headers: { cookie } })).statusCode).toBe(200);
    await bench.clock.advance(1000);
    const late = await ask({ url: "/api/v1/lanes", headers: { cookie } });
    expect([late.statusCode, String(late.headers["set-cookie"])]).toEqual([
      401,
      expect.stringContaining("Max-Age=0"),
    ]);
  });

  it("is signed out with its token: at once on the node that revokes it", async () => {
    const cookie = await cookieOf(await bench.token("full"));
    const { tokenId } = (await ask({ headers: { cookie } })).json() as { tokenId: string };
    await bench.client().tokens.remove(tokenId);
    expect((await ask({ url: "/api/v1/lanes", headers: { cookie } })).statusCode).toBe(401);
  });
});

describe("a write by session", () => {
  it.each([
    ["no origin", { "content-type": "application/json" }],
    ["another origin", { "content-type": "application/json", origin: "http://127.0.0.1:3000" }],
    ["a hidden origin", { "content-type": "application/json", origin: "null" }],
    ["the form of a page", { "content-type": "text/plain", origin: ORIGIN }],
  ])("is refused with %s", async (_what, headers) => {
    const cookie = await cookieOf(await bench.token("full"));
    const answer = await bench.app.inject({
      method: "POST",
      url: "/api/v1/endpoints",
      headers: { host: HOST, cookie, ...headers },
      payload: "{}",
    });
    expect(answer.json()).toMatchObject({ status: 403, code: "session_refused" });
  });

  it("needs neither where it carries a token", async () => {
    const answer = await bench.call("POST", "/api/v1/tokens", { name: "n", scope: "read" });
    expect(answer.statusCode).toBe(201);
  });
});

describe("signing in", () => {
  it("is refused to pages of other sites", async () => {
    const answer = await signIn({ token: await bench.token("full") }, { origin: "https://evil.example" });
    expect(answer.json()).toMatchObject({ status: 403, code: "session_refused" });
  });

  it("counts wrong tokens and wrong codes as everywhere", async () => {
    for (const body of [{ token: "phk_wrong" }, { code: "wrong" }, { token: "phk_wrong" }]) {
      expect((await signIn(body)).statusCode).toBe(401);
    }
    expect((await signIn({ code: "wrong" })).statusCode).toBe(429);
    expect((await signIn({ token: await bench.token("full") })).statusCode).toBe(429);
  });

  it("asks the store for no more wrong sessions of one address than for wrong tokens", async () => {
    const find = vi.spyOn(bench.parts.registry, "findSession");
    const cookie = `posthorn-8710=${"y".repeat(43)}`;
    for (let n = 0; n < 10; n++) await ask({ url: "/api/v1/lanes", headers: { cookie } });
    expect(find.mock.calls.length).toBe(3);
    vi.restoreAllMocks();
  });

  it("takes a printed code once, and within ten minutes", async () => {
    const code = codes.make();
    expect((await signIn({ code })).json()).toMatchObject({ signedIn: true, scope: "full" });
    expect((await signIn({ code })).statusCode).toBe(401);
    const late = codes.make();
    await bench.clock.advance(CODE_MS);
    expect((await signIn({ code: late })).statusCode).toBe(401);
  });

  it("sets a cookie for TLS alone where a proxy speaks TLS", async () => {
    const behind = await apiBench({ settings: { behindProxy: true } });
    const answer = await behind.app.inject({
      method: "POST",
      url: "/api/v1/session",
      headers: { host: "localhost", "x-forwarded-proto": "https", origin: "https://localhost" },
      payload: { token: await behind.token("full") },
    });
    expect(answer.headers["set-cookie"]).toMatch(
      /^__Host-posthorn=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
    );
  });

  it("is refused over plain HTTP from elsewhere", async () => {
    const open = await apiBench({ settings: { listen: { host: "0.0.0.0", port: 8710 } } });
    const answer = await open.app.inject({
      method: "POST",
      url: "/api/v1/session",
      headers: { host: "10.1.1.1:8710", origin: "http://10.1.1.1:8710" },
      payload: { token: await open.token("full") },
    });
    expect(answer.json()).toMatchObject({ status: 403, code: "session_refused" });
    expect(answer.headers["set-cookie"]).toBeUndefined();
  });
});
