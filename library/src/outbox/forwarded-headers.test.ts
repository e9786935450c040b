import { describe, expect, it } from "vitest";
import { forwardFault, ForwardedHeaders } from "./forwarded-headers.js";

describe("headers are sent on", () => {
  it("only by rule", () => {
    expect(new ForwardedHeaders([]).of({ "x-a": "1" })).toBeUndefined();
    expect(new ForwardedHeaders(["x-b"]).of({ "x-a": "1" })).toBeUndefined();
    expect(new ForwardedHeaders(["x-b", "x-a*"]).of({ "x-a-1": "1", "x-b": "2", "x-c": "3" })).toEqual({
      "x-a-1": "1",
      "x-b": "2",
    });
  });

  const ofConnection = "is never sent on: it belongs to the connection between the provider and Posthorn";
  const ofSender = "is written by the sender itself; leave it away, or choose another name";

  it.each(["authorization", "cookie", "proxy-authorization", "content-encoding"])(
    "never %s, which is of the connection, by whatever rule",
    (name) => {
      expect(new ForwardedHeaders(["*", name]).of({ [name]: "x" })).toBeUndefined();
      expect(forwardFault(name)).toBe(ofConnection);
    },
  );

  it.each([
    "host",
    "content-length",
    "connection",
    "transfer-encoding",
    "te",
    "upgrade",
    "user-agent",
    "content-type",
    "webhook-id",
    "svix-signature",
    "posthorn-seq",
  ])("never %s, which the sender writes, by whatever rule", (name) => {
    expect(new ForwardedHeaders(["*", name]).of({ [name]: "x" })).toBeUndefined();
    expect(forwardFault(name)).toBe(ofSender);
  });

  it.each([
    "stripe-signature",
    "x-hub-signature-256",
    "x-shopify-hmac-sha256",
    "paypal-transmission-sig",
    "x-gitlab-token",
    "x-api-key",
    "x-forwarded-for",
    "forwarded",
    "x-client-secret",
  ])("%s by its exact name alone", (name) => {
    expect(new ForwardedHeaders(["*", "x-*"]).of({ [name]: "x" })).toBeUndefined();
    expect(new ForwardedHeaders([name]).of({ [name]: "x" })).toEqual({ [name]: "x" });
  });

  it("but not those whose value could not be sent as it is", () => {
    const rules = new ForwardedHeaders(["x-*"]);
    expect(rules.of({ "x-a": "caf\u00e9", "x-b": "a\u0000b", "x-c": ["1", "2"], "x-d": "ok" })).toEqual({
      "x-d": "ok",
    });
  });

  it("up to 64 of them and 8 KiB; what is too much is left out", () => {
    const rules = new ForwardedHeaders(["x-*"]);
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`x-${index}`, "1"]));
    expect(Object.keys(rules.of(many) ?? {})).toHaveLength(64);
    expect(rules.of({ "x-long": "a".repeat(9000), "x-short": "b" })).toEqual({ "x-short": "b" });
  });

  it("with a header called __proto__ as one like others", () => {
    const headers = JSON.parse('{"__proto__":"1","x-a":"2"}') as Record<string, string>;
    const chosen = new ForwardedHeaders(["*"]).of(headers);
    expect(Object.entries(chosen ?? {})).toEqual([
      ["__proto__", "1"],
      ["x-a", "2"],
    ]);
    expect(Object.getPrototypeOf(chosen)).toBe(Object.prototype);
  });
});
