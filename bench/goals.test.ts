import { expect, test } from "vitest";
import { judge, meets, misses } from "./goals.js";

test("a value at its bound meets the goal from either side", () => {
  expect(meets(3, ">= 3")).toBe(true);
  expect(meets(5, "<= 5")).toBe(true);
});

test("a value beyond its bound misses the goal", () => {
  expect(meets(2.999, ">= 3")).toBe(false);
  expect(meets(5.001, "<= 5")).toBe(false);
});

test("a fractional bound is read whole", () => {
  expect(meets(0.74, ">= 0.75")).toBe(false);
  expect(meets(0.76, ">= 0.75")).toBe(true);
});

test("a measurement that failed meets no goal", () => {
  expect(meets(Number.NaN, ">= 0")).toBe(false);
  expect(meets(Number.NaN, "<= 0")).toBe(false);
});

test("a figure without a goal is reported and never missed", () => {
  const judged = judge("size", 1, undefined);
  expect(judged).toEqual({ name: "size", value: 1, goal: null, met: true });
  expect(misses([judged])).toEqual([]);
});

test("each missed goal is named with its value, which is not rounded up to the goal", () => {
  const judged = [judge("a", 0.7496, ">= 0.75"), judge("b", 9, ">= 3"), judge("c", 51.2, "<= 50")];
  expect(misses(judged)).toEqual([
    "goal not met: a is 0.7496, goal >= 0.75",
    "goal not met: c is 51.2, goal <= 50",
  ]);
});
