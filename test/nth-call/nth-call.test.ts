import { printViolations } from "posthorn/testing";
import { afterAll, describe, expect, it } from "vitest";
import { canHang, WAYS } from "./store-calls.js";
import { World } from "./world.js";

// A run without a failure says how many calls there are to fail.
const whole = new World({ nth: 0, way: "reject" });
const report = await whole.run();
const calls = [...whole.calls.made];
const EFFECTS = 10;

const VERBS = [
  ...["find", "accept", "fail", "refuse", "touch", "flush", "purge"].map((verb) => `inbox.${verb}`),
  ...["addEndpoint", "changeEndpoint", "removeEndpoint", "readEndpoints", "listEndpoints"].map(
    (verb) => `outbox.${verb}`,
  ),
  ...["write", "append", "sequence", "claim", "settle", "release", "untilDue"].map(
    (verb) => `outbox.${verb}`,
  ),
  ...["blockedLanes", "deadLetters", "attempts", "redrive", "skip"].map((verb) => `outbox.${verb}`),
];

it("a run without a failure keeps every promise, and calls every verb", () => {
  expect(printViolations(report)).toBe("");
  expect(report.counts.get("effect.ok")).toBe(EFFECTS);
  expect(VERBS.filter((verb) => !calls.includes(verb))).toEqual([]);
});

describe.each(WAYS)("a host of which one store call fails by %s", (way) => {
  const failing = calls.flatMap((call, index) =>
    way !== "hang" || canHang(call) ? [{ nth: index + 1, call }] : [],
  );
  const failed = new Set<string>();
  afterAll(() => console.log(`${failing.length} of ${calls.length} calls failed by ${way}`));

  it.each(failing)(
    "call $nth ($call): nothing is lost, doubled or overtaken, and it comes to rest",
    async ({ nth }) => {
      const world = new World({ nth, way });
      const found = await world.run();
      expect(printViolations(found)).toBe("");
      expect(found.counts.get("effect.ok")).toBe(EFFECTS);
      expect(world.passed).toBe(0);
      failed.add(world.failed ?? "none");
    },
  );

  it("every verb has failed", () => {
    const wanted = VERBS.filter((verb) => way !== "hang" || canHang(verb));
    expect(wanted.filter((verb) => !failed.has(verb))).toEqual([]);
  });
});
