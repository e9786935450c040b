import { describe, expect, it } from "vitest";
import { keptHeaders, keptHeadersText } from "./kept-headers.js";

describe("kept headers", () => {
  it("have their names in lower case and one text each, from a record and from a Headers object alike", () => {
    const record = { "Webhook-Id": "evt_1", Accept: ["a", "b"], gone: undefined };
    expect(keptHeaders(record)).toEqual({ "webhook-id": "evt_1", accept: "a, b" });
    expect(keptHeaders(new Headers({ "Webhook-Id": "evt_1" }))).toEqual({ "webhook-id": "evt_1" });
  });

  it.each([
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "x-gitlab-token",
    "x-amz-security-token",
    "x-client-secret",
    "x-password",
    "x-api-key",
    "apikey",
    "X-Api-Key",
  ])("never hold a credential: %s", (name) => {
    expect(keptHeaders({ [name]: "canary" })).toEqual({ [name.toLowerCase()]: "[redacted]" });
  });

  it.each(["stripe-signature", "x-hub-signature-256", "webhook-signature", "idempotency-key", "host"])(
    "hold what explains a refusal: %s",
    (name) => {
      expect(keptHeaders({ [name]: "shown" })).toEqual({ [name]: "shown" });
    },
  );

  it("keep a header called __proto__ as an ordinary one", () => {
    const hostile = JSON.parse('{"__proto__": "x"}') as Record<string, string>;
    expect(Object.entries(keptHeaders(hostile))).toEqual([["__proto__", "x"]]);
    expect(keptHeadersText(hostile)).toBe('{"__proto__":"x"}');
  });

  it("are cut at a whole header where they are too long", () => {
    expect(keptHeaders({ a: "1", b: "x".repeat(20_000), c: "3" })).toEqual({ a: "1" });
  });

  it("become ASCII text that every database takes", () => {
    const text = keptHeadersText({ a: "caf\u00e9\u0000\ud800" });
    expect(text).toBe(String.raw`{"a":"caf\u00e9\u0000\ud800"}`);
    expect(JSON.parse(text)).toEqual({ a: "caf\u00e9\u0000\ud800" });
  });
});
