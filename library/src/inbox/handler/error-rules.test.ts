import { describe, expect, it } from "vitest";
import { again, isAgain } from "./again.js";
import { checkErrorRules, deedFor } from "./error-rules.js";
import type { ErrorMatch, ErrorRule } from "./error-rules.js";

class Declined extends Error {}

function matches(when: ErrorMatch, error: unknown): boolean {
  return deedFor(checkErrorRules([{ when, do: { dead: true } }]), error) !== undefined;
}

const withFields = (fields: object): Error => Object.assign(new Error("x"), fields);

function broken(): never {
  throw new Error("in the test");
}

describe("a rule for errors", () => {
  it.each<[string, ErrorMatch, unknown, unknown]>([
    ["name", { name: "RangeError" }, new RangeError("x"), new TypeError("x")],
    ["one of several names", { name: ["A", "TypeError"] }, new TypeError("x"), new RangeError("x")],
    ["code", { code: "ECONNREFUSED" }, withFields({ code: "ECONNREFUSED" }), withFields({ code: "ENOENT" })],
    ["class", { class: Declined }, new Declined("x"), new Error("x")],
    ["status", { status: 409 }, withFields({ status: 409 }), withFields({ status: 404 })],
    [
      "a hundred of statuses",
      { status: "5xx" },
      withFields({ statusCode: 503 }),
      withFields({ status: 400 }),
    ],
    [
      "status of an answer",
      { status: ["4xx", 500] },
      withFields({ response: { status: 422 } }),
      new Error("x"),
    ],
    ["test", { test: (error) => error === "text" }, "text", "another"],
    ["a cause", { code: "E1" }, new Error("x", { cause: new Error("y", { cause: { code: "E1" } }) }), null],
  ])("matches by %s", (_, when, one, other) => {
    expect(matches(when, one)).toBe(true);
    expect(matches(when, other)).toBe(false);
  });

  it("matches where all that it names holds of one error, and not of two in a chain", () => {
    const when = { name: "RangeError", code: "E1" };
    expect(matches(when, Object.assign(new RangeError("x"), { code: "E1" }))).toBe(true);
    expect(matches(when, new RangeError("x", { cause: { code: "E1" } }))).toBe(false);
  });

  it("does not match what throws when it is looked at, and never ends in a circle of causes", () => {
    const circle: { cause?: unknown } = {};
    circle.cause = circle;
    expect(matches({ name: "A" }, circle)).toBe(false);
    const wicked = new Proxy({}, { get: () => expect.fail("looked at") });
    expect(matches({ code: 1 }, wicked)).toBe(false);
    expect(matches({ test: broken }, new Error("x"))).toBe(false);
  });

  it("comes before those behind it", () => {
    const rules = checkErrorRules([
      { when: { name: "RangeError" }, do: { skip: "not ours" } },
      { when: { class: Error }, do: { retryNow: 2 } },
    ]);
    expect(deedFor(rules, new RangeError("x"))).toEqual({ kind: "skip", because: "not ours" });
    expect(deedFor(rules, new Error("x"))).toEqual({ kind: "retry_now", times: 2 });
    expect(deedFor(rules, "no error")).toBeUndefined();
  });

  it.each<[RegExp, unknown]>([
    [/errors: expected a list/, { when: {} }],
    [/errors\[0\]\.when: it names nothing/, [{ when: {}, do: { dead: true } }]],
    [/errors\[0\]\.when\.message: expected one of name/, [{ when: { message: "x" }, do: { dead: true } }]],
    [/errors\[0\]\.when\.class: .* type undefined/, [{ when: { class: undefined }, do: { dead: true } }]],
    [/errors\[0\]\.when\.status: it is "6xx"/, [{ when: { status: "6xx" }, do: { dead: true } }]],
    [/errors\[0\]\.do: expected exactly one of retryNow/, [{ when: { name: "A" }, do: {} }]],
    [/exactly one of/, [{ when: { name: "A" }, do: { dead: true, skip: "x" } }]],
    [/errors\[0\]\.do\.dead: it is false/, [{ when: { name: "A" }, do: { dead: false } }]],
    [/errors\[0\]\.do\.skip: expected a reason/, [{ when: { name: "A" }, do: { skip: " " } }]],
    [/errors\[0\]\.do\.retryNow: it is 0/, [{ when: { name: "A" }, do: { retryNow: 0 } }]],
    [/errors\[0\]\.do\.pauseMs: it is 50/, [{ when: { name: "A" }, do: { pauseMs: 50 } }]],
    [/retry policy/, [{ when: { name: "A" }, do: { retryLater: { firstMs: -1 } } }]],
  ])("is refused where it cannot work: %s", (message, rules) => {
    expect(() => checkErrorRules(rules as ErrorRule[])).toThrow(message);
  });
});

it("again waits from 100 ms to a day, and is told from any error", () => {
  expect(isAgain(again({ afterMs: 100 }))).toBe(true);
  expect(again({ afterMs: 86_400_000, because: "not yet" }).message).toBe("not yet");
  expect(isAgain(new Error("x")) || isAgain(null)).toBe(false);
  for (const afterMs of [0, 99, NaN, 86_400_001]) expect(() => again({ afterMs })).toThrow(/from 100 to/);
  for (const given of [undefined, null, 5000, {}, { afterMs: "5000" }])
    expect(() => again(given as never)).toThrow(/expected again\(\{ afterMs: 5000 \}\)/);
});
