import { expect, test } from "vitest";
import { pagesToGiveBack } from "./space.js";

test("a tenth of the file stays free for what comes next", () => {
  expect(pagesToGiveBack({ pages: 1000, free: 100 })).toBe(0);
  expect(pagesToGiveBack({ pages: 1000, free: 130 })).toBe(30);
});

test("a step gives back a few pages, however many are free", () => {
  expect(pagesToGiveBack({ pages: 100_000, free: 90_000 })).toBe(256);
});
