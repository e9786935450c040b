import { describe, expect, it } from "vitest";
import { age, byteSize, clockTime, count, duration, fromNow, grouped, oneLine, shortId } from "./format.ts";

describe("a duration", () => {
  it.each([
    [0, "0 ms"],
    [16.4, "16 ms"],
    [999, "999 ms"],
    [1000, "1 s"],
    [2149, "2.1 s"],
    [9999, "9.9 s"],
    [41_900, "41 s"],
    [60_000, "1 min"],
    [216_000, "3 min 36 s"],
    [5_940_000, "1 h 39 min"],
    [187_200_000, "2 d 4 h"],
  ])("of %d ms is never rounded up to what has not passed: %s", (ms, text) => {
    expect(duration(ms)).toBe(text);
  });
});

describe("a time", () => {
  const now = new Date(2026, 10, 18, 9, 20, 0).getTime();

  it("is said from now", () => {
    expect(fromNow(now - 41_000, now)).toBe("41 s ago");
    expect(fromNow(now + 250_000, now)).toBe("in 4 min 10 s");
    expect(fromNow(now - 300, now)).toBe("now");
    expect(age(200_000_000)).toBe("2 d");
  });

  it("is said to the millisecond, with the day where it is another", () => {
    expect(clockTime(new Date(2026, 10, 18, 7, 39, 1, 4).getTime(), now)).toBe("07:39:01.004");
    expect(clockTime(new Date(2026, 10, 17, 23, 59, 59, 999).getTime(), now)).toBe("17 Nov 23:59:59.999");
    expect(clockTime(new Date(2025, 10, 17, 1, 2, 3, 4).getTime(), now)).toBe("17 Nov 2025 01:02:03.004");
  });
});

it("sizes and counts are as people read them", () => {
  expect([byteSize(343), byteSize(1280), byteSize(3_450_000)]).toEqual(["343 B", "1.2 kB", "3.4 MB"]);
  expect(grouped("9007199254740993")).toBe("9,007,199,254,740,993");
  expect([count(1, "lane"), count(2, "delivery"), count(1204n, "event"), count(2, "key")]).toEqual([
    "1 lane",
    "2 deliveries",
    "1,204 events",
    "2 keys",
  ]);
});

it("a long id keeps its begin and its end, a short one stays", () => {
  expect(shortId("evt_7QK2M9XW4T")).toBe("evt_7QK2M9XW4T");
  expect(shortId("evt_7QK2M9XW4TABCDEFGH")).toBe("evt_7QK2M…EFGH");
});

it("what a reader cannot see is shown as its code", () => {
  expect(oneLine("a\u202eb\nc")).toBe("a\\u202eb\\u000ac");
  expect(oneLine("x".repeat(200), 10)).toBe(`${"x".repeat(10)}…`);
});
