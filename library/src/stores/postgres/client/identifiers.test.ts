import { expect, it } from "vitest";
import { checkedMs, literal, quotedName, withoutNul } from "./identifiers.js";

it("a name is quoted, and refused where quotes alone would not make it safe", () => {
  expect(quotedName("schema", "Odd-Name$1")).toBe('"Odd-Name$1"');
  for (const name of ['a"b', "a'b", "a b", "", "1a", "a.b", "a;b", "x".repeat(53)]) {
    expect(() => quotedName("schema", name)).toThrow("schema is");
  }
});

it("milliseconds that no timer can wait are refused", () => {
  expect(checkedMs("waitMs", 0)).toBe(0);
  for (const ms of [-1, Number.NaN, Infinity, 1e9])
    expect(() => checkedMs("waitMs", ms)).toThrow("waitMs is");
});

it("a literal is one text to the server, whatever it holds", () => {
  expect(literal(String.raw`it's \ "it"`)).toBe(String.raw`E'it''s \\ "it"'`);
});

it("a NUL, which Postgres has no room for, is written out", () => {
  expect(withoutNul("a\0b\0")).toBe(String.raw`a\u0000b\u0000`);
  expect(withoutNul("plain")).toBe("plain");
});
