import { describe, expect, it } from "vitest";
import { encodeResult } from "./result.js";

function encode(result: unknown): { text: string | undefined; warnings: string[] } {
  const warnings: string[] = [];
  const text = encodeResult(result, { info: () => {}, warn: (message) => warnings.push(message) });
  return { text, warnings };
}

describe("a handler's result", () => {
  it("is kept as JSON", () => {
    expect(encode({ paid: true })).toEqual({ text: '{"paid":true}', warnings: [] });
    expect(encode(null)).toEqual({ text: "null", warnings: [] });
  });

  it("is nothing when the handler returned nothing", () => {
    expect(encode(undefined)).toEqual({ text: undefined, warnings: [] });
  });

  it("that is not JSON is told and left out, because the work is done", () => {
    const circular: { self?: unknown } = {};
    circular.self = circular;
    for (const odd of [circular, 1n]) {
      const { text, warnings } = encode(odd);
      expect(text).toBeUndefined();
      expect(warnings).toHaveLength(1);
    }
    expect(encode(() => 1).text).toBeUndefined();
  });

  it("that is too long is told and left out", () => {
    expect(encode("x".repeat(70_000)).warnings[0]).toContain("65536");
  });
});
