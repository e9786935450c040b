import type { Attempt, StoryDelivery } from "posthorn/client";
import { expect, it } from "vitest";
import { answerText, attemptName, attemptOf, axisOf } from "./attempts.ts";

const attempt = (startedMs: number, durationMs: number, outcome = "refused", number = 1): Attempt => ({
  round: 1,
  number,
  startedAt: new Date(startedMs).toISOString(),
  durationMs,
  outcome,
  status: 500,
  error: null,
  answer: null,
  sent: null,
});

const delivery = (id: string, tried: readonly Attempt[]): StoryDelivery => ({ id, tried }) as StoryDelivery;

it("attempts of all endpoints stand on one axis, from the first start to the last end", () => {
  const axis = axisOf([
    delivery("a", [attempt(1000, 100)]),
    delivery("b", [attempt(1000, 10), attempt(11_000, 1000)]),
  ]);
  expect(axis?.totalMs).toBe(11_000);
  expect(axis?.bars.get("a")?.[0]).toMatchObject({ from: 0, outcome: "refused", name: "a.1.1" });
  expect(axis?.bars.get("b")?.[1]?.to).toBe(1);
  const [first, second] = axis?.bars.get("b") ?? [];
  expect(first?.to).toBeLessThan(second?.from ?? 0);
});

it("there is no axis without an attempt", () => {
  expect(axisOf([delivery("a", [])])).toBeUndefined();
});

it("a link names one attempt; without a name, the last that failed is looked at", () => {
  const story = [
    delivery("a", [attempt(0, 1, "refused", 1), attempt(2, 1, "acknowledged", 2)]),
    delivery("b", [attempt(0, 1, "acknowledged")]),
  ];
  expect(attemptName(story[0] as StoryDelivery, attempt(2, 1, "acknowledged", 2))).toBe("a.1.2");
  expect(attemptOf(story, "a.1.2")?.attempt.outcome).toBe("acknowledged");
  expect(attemptOf(story, null)).toMatchObject({ delivery: { id: "a" }, attempt: { number: 1 } });
  expect(attemptOf([delivery("b", [])], null)).toBeUndefined();
});

it("an answer is shown as text, whatever its bytes are", () => {
  expect(answerText(btoa('{"error":"db is down"}'))).toBe('{"error":"db is down"}');
  expect(answerText(null)).toBe("");
});
