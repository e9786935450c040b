import { expect, test } from "vitest";
import { orderOfRound } from "./order.js";

test("every case has exactly one turn in a round", () => {
  for (let round = 0; round < 20; round += 1) {
    expect(orderOfRound(7, round).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  }
});

test("two runs take the same turns", () => {
  expect(orderOfRound(7, 3)).toEqual(orderOfRound(7, 3));
});

test("over the rounds every case comes first, and every case follows every other", () => {
  const orders = Array.from({ length: 60 }, (_, round) => orderOfRound(4, round));
  const pairs = orders.flatMap((order) => order.slice(1).map((item, index) => `${order[index]}${item}`));
  expect(new Set(orders.map((order) => order[0])).size).toBe(4);
  expect(new Set(pairs).size).toBe(12);
});
