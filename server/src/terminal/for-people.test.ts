import { describe, expect, it } from "vitest";
import { count, due, duration, relative, size } from "./for-people.js";

it.each([
  [0, "0 ms"],
  [850.4, "850 ms"],
  [4250, "4.2 s"],
  [9999, "9.9 s"],
  [59_999, "59 s"],
  [200_000, "3 min 20 s"],
  [180_000, "3 min"],
  [7_500_000, "2 h 5 min"],
  [86_400_000 + 300_000, "1 d"],
  [86_400_000 * 2 + 3_600_000 * 4, "2 d 4 h"],
  [Number.NaN, "–"],
  [-1, "–"],
])("%d ms are %s", (ms, words) => {
  expect(duration(ms)).toBe(words);
});

describe("an instant", () => {
  const now = Date.parse("2027-01-31T12:00:00Z");
  it.each([
    ["2027-01-31T11:59:48Z", "12 s ago"],
    ["2027-01-31T12:03:20Z", "in 3 min"],
    ["2027-01-31T12:00:00.500Z", "just now"],
    ["2027-01-29T11:00:00Z", "2 d ago"],
    ["yesterday", "yesterday"],
    [null, "–"],
  ])("%s is %s", (instant, words) => {
    expect(relative(instant, now)).toBe(words);
  });
});

it("what is due is due now or in a while", () => {
  expect([due(0), due(-5), due(1500), due(null), due(undefined)]).toEqual([
    "now",
    "now",
    "in 1.5 s",
    "–",
    "–",
  ]);
});

it.each([
  [0, "0 B"],
  [1023, "1023 B"],
  [1024, "1 KiB"],
  [1434, "1.4 KiB"],
  [1024 * 1024 - 1, "1 MiB"],
  [250 * 1024, "250 KiB"],
  [3.5 * 1024 ** 3, "3.5 GiB"],
])("%d bytes are %s", (bytes, words) => {
  expect(size(bytes)).toBe(words);
});

it("one is one, and thousands have a comma", () => {
  expect([
    count(1, "lane"),
    count(2140, "lane"),
    count(1n, "delivery", "deliveries"),
    count(0n, "delivery", "deliveries"),
  ]).toEqual(["1 lane", "2,140 lanes", "1 delivery", "0 deliveries"]);
});
