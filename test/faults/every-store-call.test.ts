import { printViolations } from "posthorn/testing";
import { describe, expect, it } from "vitest";
import type { Failure } from "./failing-store.js";
import { Receiving } from "./receiving.js";

// A run without a failure says how many calls there are to fail. One more, because a failure makes further ones.
const whole = new Receiving(0, "reject");
const report = await whole.run();
const calls = [...whole.calls];

describe.each(["reject", "hang", "reject_after_applying"] satisfies Failure[])(
  "a store of which one call fails by %s",
  (failure) => {
    it.each(calls.map((verb, index) => [index + 1, verb] as const))(
      "call %i (%s): nothing is lost and nothing doubled",
      async (nth) => {
        const receiving = new Receiving(nth, failure);
        const found = await receiving.run();
        expect(printViolations(found)).toBe("");
        expect(found.counts.get("effect.ok")).toBe(3);
        expect(receiving.calls.length).toBeGreaterThanOrEqual(nth);
      },
    );
  },
);

it("the run without a failure reaches every verb of accepting", () => {
  expect(printViolations(report)).toBe("");
  expect(new Set(calls)).toEqual(new Set(["find", "accept", "fail", "touch", "refuse", "flush"]));
});
