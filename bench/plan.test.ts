import { expect, test } from "vitest";
import { select } from "./plan.js";
import type { Case, Plan, Suite } from "./suite.js";

const cases: Case[] = ["a", "b", "c"].map((name) => ({ kind: "loop", name, run: () => name }));
const brief: Plan = { rounds: 5, turnMs: 10, warmupMs: 10 };

function suiteWith(quick: Partial<Plan>, over: Partial<Suite> = {}): Suite {
  return {
    plans: { full: brief, quick: { ...brief, ...quick } },
    ratios: [
      { name: "a / b", of: "a", to: "b" },
      { name: "a / c", of: "a", to: "c" },
    ],
    limits: [{ name: "size", measure: () => 1 }],
    cases: () => cases,
    ...over,
  };
}

test("a full run includes everything", () => {
  const selection = select(suiteWith({ cases: ["a"] }), cases, false);
  expect(selection.cases).toHaveLength(3);
  expect(selection.ratios).toHaveLength(2);
  expect(selection.limits).toHaveLength(1);
});

test("a quick run keeps its own cases and the ratios between them", () => {
  const selection = select(suiteWith({ cases: ["a", "b"], limits: [] }), cases, true);
  expect(selection.cases.map((each) => each.name)).toEqual(["a", "b"]);
  expect(selection.ratios.map((ratio) => ratio.name)).toEqual(["a / b"]);
  expect(selection.limits).toEqual([]);
});

test("a misspelt case or limit is refused, in the plan and in a ratio", () => {
  expect(() => select(suiteWith({ cases: ["A"] }), cases, true)).toThrow('no case "A"; it has: a; b; c.');
  expect(() => select(suiteWith({ limits: ["sizes"] }), cases, true)).toThrow('no limit "sizes"');
  const ratios = [{ name: "a / d", of: "a", to: "d" }];
  expect(() => select(suiteWith({}, { ratios }), cases, false)).toThrow('no case "d"');
});

test("fewer than five rounds are refused", () => {
  expect(() => select(suiteWith({ rounds: 4 }), cases, true)).toThrow("needs 5 rounds, found 4");
});

test("two cases of one name are refused", () => {
  expect(() => select(suiteWith({}), [...cases, ...cases], false)).toThrow("same name");
});

test("a quick plan that cannot end within 45 s is refused before it starts", () => {
  expect(() => select(suiteWith({ turnMs: 3_001 }), cases, true)).toThrow("45000 are allowed");
});
