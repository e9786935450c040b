import { describe, expect, it } from "vitest";
import { keptHeaders } from "./kept-headers.js";

describe("kept headers", () => {
  it("are kept with their names in lower case, from a record and from a Headers object alike", () => {
    const record = { "Webhook-Id": "evt_1", Accept: ["a", "b"], gone: undefined };
    expect(JSON.parse(keptHeaders(record))).toEqual({ "webhook-id": "evt_1", accept: ["a", "b"] });
    expect(JSON.parse(keptHeaders(new Headers({ "Webhook-Id": "evt_1" })))).toEqual({
      "webhook-id": "evt_1",
    });
  });

  it("never hold a credential", () => {
    const text = keptHeaders({
      authorization: "Bearer canary",
      cookie: "canary",
      "x-gitlab-token": "canary",
    });
    expect(text).not.toContain("canary");
    expect(JSON.parse(text)).toHaveProperty("authorization", "(redacted)");
  });

  it("are ASCII text that every database takes", () => {
    const text = keptHeaders({ a: "caf\u00e9\u0000\ud800" });
    expect(text).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(text)).toEqual({ a: "caf\u00e9\u0000\ud800" });
  });

  it("keep a header called __proto__ as an ordinary one", () => {
    const hostile = JSON.parse('{"__proto__": "x"}') as Record<string, string>;
    expect(keptHeaders(hostile)).toBe('{"__proto__":"x"}');
  });

  it("are cut at a whole header where they are too long", () => {
    const text = keptHeaders({ a: "1", b: "x".repeat(40_000), c: "3" });
    expect(JSON.parse(text)).toEqual({ a: "1" });
  });
});
