import { expect, it } from "vitest";
import config from "../vitest.config.js";
import type { Lane } from "./lanes.js";
import { chooseLanes, lanes, onRequest } from "./lanes.js";

const all: readonly Lane[] = [
  { name: "unit", command: ["vitest"] },
  { name: "walk", command: ["vitest"] },
  { name: "official", long: true, install: "test/official", command: ["vitest"] },
];

interface Named {
  readonly test: { readonly name: string };
}

interface Chosen {
  readonly names: readonly string[];
  readonly rest: readonly string[];
}

function choose(...args: readonly string[]): Chosen {
  return chooseFrom(all, args);
}

function chooseFrom(from: readonly Lane[], args: readonly string[]): Chosen {
  const choice = chooseLanes(from, args);
  if (choice.kind === "unknown") throw new Error(choice.message);
  return { names: choice.lanes.map((lane) => lane.name), rest: choice.rest };
}

it("without arguments the lanes run that are not long", () => {
  expect(choose()).toEqual({ names: ["unit", "walk"], rest: [] });
});

it("with --all every lane runs", () => {
  expect(choose("--all")).toEqual({ names: ["unit", "walk", "official"], rest: [] });
});

it("a named lane runs alone, with the other arguments", () => {
  expect(choose("stripe", "--lane", "official", "-t", "old")).toEqual({
    names: ["official"],
    rest: ["stripe", "-t", "old"],
  });
  expect(choose("--all", "--lane", "walk")).toEqual({ names: ["walk"], rest: [] });
});

it("a lane that does not exist is refused with the names of those that do", () => {
  expect(() => choose("--lane", "offical")).toThrow("there are unit, walk, official");
  expect(() => choose("--lane")).toThrow("there are unit, walk, official");
});

it("a file runs in the lane that owns its folder, or else in the first", () => {
  expect(choose("test/official/stripe.test.ts").names).toEqual(["official"]);
  expect(choose("library/src/clock.test.ts").names).toEqual(["unit"]);
});

it("`npm test` runs unit, whole, services and walk; `npm run test:all` also what takes long", () => {
  const short = ["unit", "whole", "services", "walk"];
  expect(chooseFrom(lanes, []).names).toEqual(short);
  expect(chooseFrom(lanes, ["--all"]).names).toEqual([
    ...short,
    "packed",
    "browser",
    "crash",
    "official",
    "hosts",
    "orms",
    "consumers",
    "proof",
  ]);
});

it("every project of vitest is in one lane, or has a command of its own", () => {
  const projects = config.test?.projects?.map((project) => (project as Named).test.name) ?? [];
  const inLanes = lanes.flatMap(({ command }) =>
    command.filter((_word, index) => command[index - 1] === "--project"),
  );
  const known = [...inLanes, ...onRequest];
  expect(new Set(known)).toEqual(new Set(projects));
  expect(known).toHaveLength(projects.length);
});
