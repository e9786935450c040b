import { expect, it } from "vitest";
import type { Lane } from "./lanes.js";
import { chooseLanes } from "./lanes.js";

const all: readonly Lane[] = [
  { name: "unit", command: ["vitest"] },
  { name: "official", install: "test/official", command: ["vitest"] },
];

function choose(...args: string[]): { names: string[]; rest: readonly string[] } {
  const choice = chooseLanes(all, args);
  if (choice.kind === "unknown") throw new Error(choice.message);
  return { names: choice.lanes.map((lane) => lane.name), rest: choice.rest };
}

it("without arguments every lane runs", () => {
  expect(choose()).toEqual({ names: ["unit", "official"], rest: [] });
});

it("a named lane runs alone, with the other arguments", () => {
  expect(choose("stripe", "--lane", "official", "-t", "old")).toEqual({
    names: ["official"],
    rest: ["stripe", "-t", "old"],
  });
});

it("a lane that does not exist is refused with the names of those that do", () => {
  expect(() => choose("--lane", "offical")).toThrow("there are unit, official");
  expect(() => choose("--lane")).toThrow("there are unit, official");
});

it("a file runs in the lane that owns its folder, or else in the first", () => {
  expect(choose("test/official/stripe.test.ts").names).toEqual(["official"]);
  expect(choose("library/src/clock.test.ts").names).toEqual(["unit"]);
});
