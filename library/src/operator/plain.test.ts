import { describe, expect, it } from "vitest";
import { plain } from "./plain.js";

describe("what leaves the engine", () => {
  it("has texts in place of big whole numbers, however deep, and can be written as JSON", () => {
    const found = plain({
      items: [{ id: 9007199254740993n, depth: 2, head: { sequence: 1n } }],
      next: undefined,
    });
    expect(found).toEqual({
      items: [{ id: "9007199254740993", depth: 2, head: { sequence: "1" } }],
      next: undefined,
    });
    expect(JSON.stringify(found)).toBe(
      '{"items":[{"id":"9007199254740993","depth":2,"head":{"sequence":"1"}}]}',
    );
  });

  it("keeps instants, bytes and nothing as they are", () => {
    const value = { at: new Date(0), body: new Uint8Array([1]), none: null };
    expect(plain(value)).toEqual(value);
    expect(plain(undefined)).toBeUndefined();
  });
});
