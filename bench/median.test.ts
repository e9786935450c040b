import { expect, test } from "vitest";
import { median, middleHalf, ratioPerRound } from "./median.js";

test("the median of an odd number of values is the middle one, in whatever order they come", () => {
  expect(median([9, 1, 5])).toBe(5);
});

test("the median of an even number of values is the mean of the middle two", () => {
  expect(median([10, 1, 2, 100])).toBe(6);
});

test("the median of nothing is no number", () => {
  expect(median([])).toBeNaN();
});

test("the median leaves the values in their order", () => {
  const values = [3, 1, 2];
  median(values);
  expect(values).toEqual([3, 1, 2]);
});

test("a slow spell that hits both candidates of a round leaves their ratio alone", () => {
  const ours = [300, 30, 300, 30, 300];
  const theirs = [100, 10, 100, 10, 100];
  expect(ratioPerRound(ours, theirs)).toEqual([3, 3, 3, 3, 3]);
});

test("one spoilt round of five does not move the median of the ratios", () => {
  expect(median(ratioPerRound([300, 300, 3, 300, 300], [100, 100, 100, 100, 100]))).toBe(3);
});

test("rounds that cannot be paired are refused", () => {
  expect(() => ratioPerRound([1, 2], [1])).toThrow("2 rounds with 1");
});

test("the middle half leaves a quarter of the rounds out on either side", () => {
  expect(middleHalf([100, 4, 3, 2, 0.01])).toEqual({ low: 2, high: 4 });
  expect(middleHalf([7])).toEqual({ low: 7, high: 7 });
});
