import { describe, expect, it } from "vitest";
import { matcherOf } from "./fan-out.js";

describe("a pattern", () => {
  it.each([
    ["*", "", true],
    ["order.paid", "order.paid", true],
    ["order.paid", "order.paid.twice", false],
    ["order.*", "order.paid", true],
    ["order.*", "order.", true],
    ["order.*", "orders.paid", false],
    ["*.paid", "order.paid", true],
    ["*.paid", "order.paid.late", false],
    ["a*b*c", "aXbYc", true],
    ["a*b*c", "abc", true],
    ["a*b*c", "acb", false],
    ["ab*ba", "aba", false],
    ["a*a", "a", false],
    ["*a*", "banana", true],
    ["a.c", "abc", false],
    ["(a+)+$*", "(a+)+$b", true],
  ])("%s, asked for %s, says %s", (pattern, text, expected) => {
    expect(matcherOf([pattern])(text)).toBe(expected);
  });

  it("is one of several, any of which may match", () => {
    const matches = matcherOf(["order.paid", "invoice.*"]);
    expect(["order.paid", "invoice.sent", "order.sent"].map(matches)).toEqual([true, true, false]);
    expect(matcherOf([])("anything")).toBe(false);
  });
});
