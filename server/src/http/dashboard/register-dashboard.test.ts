import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiBench, closeBenches } from "../../../../test/server/api-bench.js";
import type { ApiBench } from "../../../../test/server/api-bench.js";
import type { BuiltFiles } from "./built-files.js";
import { pageUnder } from "./register-dashboard.js";

const PAGE = '<meta name="posthorn-base" content=""><script src="./assets/a-1.js"></script>';
const dashboard: BuiltFiles = {
  page: PAGE,
  assets: new Map([
    ["a-1.js", { type: "text/javascript", bytes: Buffer.from("1"), gzipped: Buffer.from("zipped") }],
  ]),
};

let bench: ApiBench;
beforeAll(async () => {
  bench = await apiBench({ dashboard, settings: { behindProxy: true } });
});
afterAll(closeBenches);

const get = (url: string, headers: Record<string, string> = {}) =>
  bench.app.inject({ url, headers: { host: "localhost", ...headers } });

describe("the dashboard", () => {
  it("is the same document on every page, under the strict policy", async () => {
    for (const url of ["/", "/events", "/events/evt%2F1", "/lanes/12", "/dead?since=24h"]) {
      const { statusCode, headers, body } = await get(url);
      expect([statusCode, headers["content-type"], headers["cache-control"]]).toEqual([
        200,
        "text/html; charset=utf-8",
        "no-store",
      ]);
      expect(headers["content-security-policy"]).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; " +
          "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
          "require-trusted-types-for 'script'; trusted-types 'none'",
      );
      expect(headers).toMatchObject({
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "permissions-policy": "camera=(), microphone=(), geolocation=()",
        "x-content-type-options": "nosniff",
      });
      expect(body).toContain('src="/assets/a-1.js"');
    }
  });

  it("has files that browsers keep for ever, smaller for those who unpack them", async () => {
    const plain = await get("/assets/a-1.js");
    expect([plain.body, plain.headers["cache-control"]]).toEqual([
      "1",
      "public, max-age=31536000, immutable",
    ]);
    const zipped = await get("/assets/a-1.js", { "accept-encoding": "gzip, br" });
    expect([zipped.body, zipped.headers["content-encoding"]]).toEqual(["zipped", "gzip"]);
    expect((await get("/assets/..%2Fmain.js")).statusCode).toBe(404);
  });

  it("lies under the path that the proxy names, and under nothing that is no path", async () => {
    const under = await get("/", { "x-forwarded-prefix": "/posthorn/" });
    expect(under.body).toBe(pageUnder(PAGE, "/posthorn"));
    expect(under.body).toContain('content="/posthorn"');
    const hostile = await get("/", { "x-forwarded-prefix": '/"><script>' });
    expect(hostile.body).toBe(pageUnder(PAGE, ""));
  });

  it("leaves the other paths as they are", async () => {
    expect((await get("/nothing")).json()).toMatchObject({ status: 404, code: "not_found" });
    expect((await get("/healthz")).json()).toEqual({ status: "ok" });
    expect((await get("/api/v1/events")).statusCode).toBe(401);
  });

  it("answers under its own names only, as the API does", async () => {
    expect((await get("/", { host: "evil.example" })).statusCode).toBe(421);
  });
});
