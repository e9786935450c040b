import { describe, expect, it } from "vitest";
import { matcherOf } from "./pattern.js";

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
    ["*ab*ab", "xabyab", true],
    ["*ab*ab", "xab", false],
    ["**", "x", true],
  ])("%s, asked for %s, says %s", (pattern, text, expected) => {
    expect(matcherOf([pattern])(text)).toBe(expected);
  });

  it("of many stars does not take longer for it", () => {
    expect(matcherOf(["*a".repeat(60)])("a".repeat(8000) + "b")).toBe(false);
  });

  it("is one of several, any of which may match", () => {
    const matches = matcherOf(["order.paid", "invoice.*"]);
    expect(["order.paid", "invoice.sent", "order.sent"].map(matches)).toEqual([true, true, false]);
    expect(matcherOf([])("anything")).toBe(false);
  });
});
