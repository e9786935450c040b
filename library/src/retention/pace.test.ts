import { expect, test } from "vitest";
import { FIRST_LIMIT, nextPace } from "./pace.js";

function after(limit: number, tookMs: number): number {
  return nextPace({ limit, removed: 0, tookMs }, 1).limit;
}

test("removal rests at least as long as it has worked", () => {
  expect(nextPace({ limit: 100, removed: 0, tookMs: 40 }, 1000)).toEqual({ limit: 100, waitMs: 40 });
});

test("no more rows are removed in a second than the rate allows", () => {
  const { waitMs } = nextPace({ limit: 500, removed: 600, tookMs: 50 }, 2000);
  expect(50 + waitMs).toBe(300);
});

test("a step that took long makes the next one smaller, a short one larger, within bounds", () => {
  expect(after(FIRST_LIMIT, 101)).toBe(FIRST_LIMIT / 2);
  expect(after(FIRST_LIMIT, 1)).toBe(FIRST_LIMIT * 2);
  expect(after(10, 5000)).toBe(10);
  expect(after(500, 1)).toBe(500);
});
