import { PosthornError } from "posthorn";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../test/server/api-bench.js";
import type { ApiBench } from "../../../test/server/api-bench.js";

const PROBLEM = expect.stringMatching(/^application\/problem\+json/) as string;

let shared: ApiBench;
beforeAll(async () => {
  shared = await apiBench({ settings: { maxBodyBytes: 1000, hosts: ["posthorn.example"] } });
});
const call: ApiBench["call"] = (...request) => shared.call(...request);
afterAll(closeBenches);

const post = (body: unknown, type = "application/json") =>
  call("POST", "/api/v1/tokens", body, { "content-type": type });

describe("every answer", () => {
  it.each([
    ["a page", "GET", "/api/v1/sources"],
    ["nothing there", "GET", "/nothing"],
    ["a wrong method", "PUT", "/api/v1/sources"],
    ["health", "GET", "/healthz"],
    ["a path that is none", "GET", "/api/v1/sources/%ff"],
    ["a path that is too long", "GET", `/api/v1/sources/${"a".repeat(800)}`],
  ])("is strict about browsers: %s", async (_what, method, url) => {
    const { headers } = await call(method, url);
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "cache-control": "no-store",
    });
    expect(headers).not.toHaveProperty("server");
    expect(headers).not.toHaveProperty("strict-transport-security");
  });

  it("asks for TLS from then on where a proxy has spoken it, and there only", async () => {
    const bench = await apiBench({ roles: [], settings: { behindProxy: true } });
    const secure = await bench.call("GET", "/healthz", undefined, { "x-forwarded-proto": "https" });
    expect(secure.headers["strict-transport-security"]).toBe("max-age=31536000");
    const plain = await bench.call("GET", "/healthz", undefined, { "x-forwarded-proto": "http" });
    expect(plain.headers).not.toHaveProperty("strict-transport-security");
  });
});

describe("what is wrong is told as a problem", () => {
  it.each([
    ["a path that nobody has", "/api/v1/nothing", 404, "not_found"],
    ["a name that nobody has", "/api/v1/sources/nothing", 404, "not_found"],
    ["a name that cannot be", "/api/v1/sources/a%00b", 400, "request_invalid"],
    ["a path that is none", "/api/v1/sources/%ff", 400, "request_malformed"],
    ["a name that is too long", `/api/v1/sources/${"a".repeat(800)}`, 414, "uri_too_long"],
    ["a lane beyond all numbers", "/api/v1/lanes/9999999999999999999", 404, "not_found"],
    ["a delivery beyond all numbers", "/api/v1/deliveries/dlv_9999999999999999999", 404, "not_found"],
  ])("%s", async (_what, url, status, code) => {
    const answer = await call("GET", url);
    expect(answer.headers["content-type"]).toEqual(PROBLEM);
    expect(answer.json()).toMatchObject({ status, code, type: `urn:posthorn:problem:${code}` });
    expect(answer.statusCode).toBe(status);
  });

  it("a method that the path does not have, with those that it has", async () => {
    const answer = await call("DELETE", "/api/v1/sources?x=1");
    expect([answer.statusCode, answer.headers["allow"], answer.json()]).toMatchObject([
      405,
      "GET, POST",
      { code: "method_not_allowed" },
    ]);
    expect((await call("PUT", "/api/v1/endpoints/ep_1")).headers["allow"]).toBe("DELETE, GET, PATCH");
  });

  it("a body that is no JSON, of another type, empty or too large", async () => {
    const found = await Promise.all([
      post("{"),
      post('{"__proto__":{}}'),
      post("name=x", "application/x-www-form-urlencoded"),
      post("text", "text/plain"),
      post(`"${"x".repeat(1000)}"`),
    ]);
    expect(found.map((answer) => answer.json().code)).toEqual([
      "json_malformed",
      "json_malformed",
      "media_type_unsupported",
      "media_type_unsupported",
      "body_too_large",
    ]);
    expect(found.map(({ headers }) => headers["content-type"])).toEqual(found.map(() => PROBLEM));
  });

  it("a name that is not known, with the one that is meant", async () => {
    const field = await call("POST", "/api/v1/endpoints", { url: "https://example.com/", maxInflight: 3 });
    expect(field.json()).toMatchObject({
      code: "request_invalid",
      field: "maxInflight",
      detail: 'There is no field "maxInflight". Is maxInFlight meant?',
    });
    const parameter = await call("GET", "/api/v1/events?typ=a");
    expect(parameter.json()).toMatchObject({
      field: "typ",
      detail: 'There is no query parameter "typ". Is type meant?',
    });
    const none = await call("GET", "/api/v1/tokens?zzzzzz=a");
    expect(none.json().detail).toBe('There is no query parameter "zzzzzz". There are: limit, after.');
    const long = await call("POST", "/api/v1/tokens", { ["x".repeat(500)]: 1 });
    expect(long.json().detail).toBe(
      `There is no field "${"x".repeat(80)}…". There are: name, scope, expiresAt.`,
    );
  });

  it.each([
    ["limit", "/api/v1/tokens?limit=0"],
    ["limit", "/api/v1/tokens?limit=1001"],
    ["limit", "/api/v1/tokens?limit=ten"],
    ["limit", "/api/v1/tokens?limit=1&limit=2"],
    ["event", "/api/v1/deliveries"],
  ])("a query that cannot be, with its field: %s of %s", async (field, url) => {
    const answer = await call("GET", url);
    expect(answer.json()).toMatchObject({ status: 400, field });
  });

  it("a database that is away, with the time to come back and without its name", async () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED 10.0.0.7:5432"), { code: "ECONNREFUSED" });
    const bench = await apiBench({ registry: { listSources: () => Promise.reject(refused) } });
    const answer = await bench.call("GET", "/api/v1/sources");
    expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([503, "2"]);
    expect(answer.json()).toMatchObject({
      code: "store_unavailable",
      detail: "The database does not answer; nothing is known to be done. Try again.",
    });
    expect(bench.lines).toMatchObject([
      { level: "error", fields: { request: answer.json().requestId, err: refused } },
    ]);
  });

  it("what nobody foresaw, with nothing but the id under which the log has it", async () => {
    const odd = new TypeError("secret of the inside");
    const bench = await apiBench({ registry: { listSources: () => Promise.reject(odd) } });
    const answer = await bench.call("GET", "/api/v1/sources");
    expect(answer.json()).toEqual({
      type: "urn:posthorn:problem:internal",
      title: "The server failed; its log has more under the request id.",
      status: 500,
      detail: "Something failed that should not.",
      code: "internal",
      requestId: expect.stringMatching(/^req_[0-9a-z]{26}$/) as string,
    });
    expect(bench.lines).toMatchObject([
      { level: "error", fields: { request: answer.json().requestId, route: "/api/v1/sources", err: odd } },
    ]);
  });
});

describe("a server on loopback", () => {
  it.each(["localhost", "127.0.0.1", "localhost:8710", "[::1]:8710", "LOCALHOST.", "posthorn.example"])(
    "is called by %s",
    async (host) => {
      expect((await call("GET", "/api/v1/tokens", undefined, { host })).statusCode).toBe(200);
    },
  );

  it.each(["evil.example", "evil.example:8710", "127.0.0.1.evil.example", "localhost.evil.example"])(
    "is not called by %j, to which a page of another site could have pointed it",
    async (host) => {
      for (const path of ["/api/v1/tokens", "/api/v1/openapi.json", "/metrics"]) {
        expect((await call("GET", path, undefined, { host })).json()).toMatchObject({ code: "misdirected" });
      }
    },
  );

  it("is called by any name where others can reach it", async () => {
    const bench = await apiBench({ settings: { listen: { host: "0.0.0.0", port: 8710 } } });
    expect((await bench.call("GET", "/api/v1/tokens", undefined, { host: "any.example" })).statusCode).toBe(
      200,
    );
  });
});

describe("health", () => {
  it("is told without the store and without a token", async () => {
    const { app } = await apiBench({
      roles: [],
      registry: { probeWrite: () => Promise.reject(new Error("gone")) },
    });
    expect((await app.inject("/healthz")).json()).toEqual({ status: "ok" });
    expect((await app.inject({ method: "HEAD", url: "/healthz" })).statusCode).toBe(200);
  });

  it("is ready when the database takes a write, which is asked at most once a second", async () => {
    let writes = 0;
    const { app, clock } = await apiBench({
      roles: [],
      registry: { probeWrite: () => Promise.resolve(void writes++) },
    });
    expect((await app.inject("/readyz")).json()).toEqual({ status: "ready" });
    await app.inject("/readyz");
    expect(writes).toBe(1);
    await clock.advance(1000);
    await app.inject("/readyz");
    expect(writes).toBe(2);
  });

  it("a full disk is told by /readyz and by the status, though the database can be read", async () => {
    const bench = await apiBench({
      registry: { probeWrite: () => Promise.reject(new Error("database or disk is full")) },
    });
    const ready = await bench.app.inject({ url: "/readyz", headers: { host: "localhost" } });
    expect([ready.statusCode, ready.json().detail]).toEqual([
      503,
      "The database refused a write: the disk is full.",
    ]);
    expect(await bench.client().status()).toMatchObject({ ok: false, needs: [{ kind: "store_refusing" }] });
    const full = new PosthornError(
      "store_unavailable",
      "insert into posthorn_event: database or disk is full",
    );
    const publishing = await apiBench({ registry: { listSources: () => Promise.reject(full) } });
    await expect(publishing.client().sources.list()).rejects.toThrow(
      "The disk of the database is full; nothing was done. Make room, and try again.",
    );
  });

  it("is not ready when the database refuses or hangs, and one hanging write is enough", async () => {
    const broken = await apiBench({
      roles: [],
      registry: { probeWrite: () => Promise.reject(new Error("read-only")) },
    });
    expect((await broken.app.inject("/readyz")).json()).toMatchObject({ status: 503, code: "not_ready" });
    let writes = 0;
    const endless = new Promise<void>(() => undefined);
    const hanging = await apiBench({
      roles: [],
      registry: {
        probeWrite: () => {
          writes++;
          return endless;
        },
      },
    });
    for (let n = 0; n < 3; n++) {
      const asked = hanging.clock.until(
        hanging.app.inject("/readyz").then((answer) => answer),
        500,
      );
      expect((await asked).statusCode).toBe(503);
    }
    expect(writes).toBe(1);
  });
});

describe("metrics", () => {
  it("are open on loopback, and want a token where others can come", async () => {
    const local = await apiBench({ roles: [] });
    const { body } = await local.app.inject({ url: "/metrics", headers: { host: "localhost" } });
    expect(body).toMatch(/^posthorn_up 1$/m);
    for (const settings of [{ listen: { host: "0.0.0.0", port: 1 } }, { behindProxy: true }]) {
      const bench = await apiBench({ roles: [], settings });
      const open = await bench.app.inject({ url: "/metrics", headers: { host: "localhost" } });
      expect(open.statusCode).toBe(401);
      const read = { authorization: `Bearer ${await bench.token("read")}` };
      expect((await bench.call("GET", "/metrics", undefined, read)).statusCode).toBe(200);
    }
  });
});

describe("roles", () => {
  it("without api have health and metrics, and nothing else", async () => {
    const bench = await apiBench({ roles: ["dispatch"] });
    expect((await bench.call("GET", "/healthz")).statusCode).toBe(200);
    expect((await bench.call("GET", "/metrics")).statusCode).toBe(200);
    expect((await bench.call("GET", "/api/v1/tokens")).statusCode).toBe(404);
    expect((await bench.call("GET", "/api/v1/openapi.json")).statusCode).toBe(404);
  });
});
