import { describe, expect, it } from "vitest";
import { checkHeaders } from "./check-headers.js";
import type { HeaderBag } from "./headers.js";

const SCHEME = { headers: ["x-id", "x-signature"], listHeaders: ["x-signature"] };

function codeOf(headers: HeaderBag, rawHeaders?: readonly string[]): unknown {
  try {
    checkHeaders(SCHEME, { headers, rawHeaders });
  } catch (error) {
    const { code, detail } = error as { code: unknown; detail: unknown };
    return { code, detail };
  }
  return "accepted";
}

function repeated(header: string): unknown {
  return { code: "header_malformed", detail: { header } };
}

describe("a header of the scheme that stands twice is refused", () => {
  it.each([
    ["in other letters", ["X-Id", "a", "accept", "b", "x-iD", "a"], "x-id"],
    ["though Node dropped the second", ["x-id", "a", "x-id", "b"], "x-id"],
    ["though its values may hold commas", ["x-signature", "a", "X-Signature", "b"], "x-signature"],
  ])("by its raw headers, %s", (_, raw, name) => {
    expect(codeOf({ "x-id": "a", "x-signature": "a" }, raw)).toEqual(repeated(name));
  });

  it.each([
    ["a record", { "X-Id": "d1, d2" }],
    [
      "Headers",
      new Headers([
        ["x-id", "d1"],
        ["x-id", "d2"],
      ]),
    ],
    ["headers that can only be asked", { get: (name: string) => (name === "x-id" ? "d1, d2" : null) }],
    ["a record under two writings of its name", { "X-Id": "d1", "x-id": "d1" }],
    ["a list", { "x-id": ["d1", "d1"] }],
  ])("in %s", (_, headers) => {
    expect(codeOf(headers)).toEqual(repeated("x-id"));
  });

  it("also where the raw headers are not there, though the list is", () => {
    expect(codeOf({ "x-id": "d1, d2" }, [])).toEqual(repeated("x-id"));
  });
});

describe("accepted are", () => {
  it("headers of others, however often they stand", () => {
    expect(codeOf({ cookie: "a, b", via: ["1", "2"] }, ["Via", "1", "via", "2"])).toBe("accepted");
  });

  it("values whose commas have no space behind them, or belong to the value", () => {
    expect(codeOf({ "x-id": "d1,d2", "x-signature": "t=1, v1=a" })).toBe("accepted");
  });

  it("requests without any header of the scheme, which reading it then misses", () => {
    expect(codeOf({})).toBe("accepted");
    expect(codeOf(new Headers())).toBe("accepted");
    expect(codeOf({ get: () => null })).toBe("accepted");
  });
});

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `x-${index}`);
}

function record(count: number): Record<string, string> {
  return Object.fromEntries(names(count).map((name) => [name, "1"]));
}

describe("more than 200 headers are refused", () => {
  it.each([
    [
      "raw headers",
      (count: number) =>
        codeOf(
          {},
          names(count).flatMap((name) => [name, "1"]),
        ),
    ],
    ["a record", (count: number) => codeOf(record(count))],
    ["Headers", (count: number) => codeOf(new Headers(record(count)))],
  ])("in %s", (_, codeFor) => {
    expect(codeFor(200)).toBe("accepted");
    expect(codeFor(201)).toEqual({ code: "headers_too_many", detail: { found: 201, most: 200 } });
  });
});
