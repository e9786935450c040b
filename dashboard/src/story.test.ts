import type { Attempt } from "posthorn/client";
import { expect, it, vi } from "vitest";

vi.mock("./api.ts", () => ({ api: {} }));
const { axisOf } = await import("./story.ts");

const attempt = (startedMs: number, durationMs: number, outcome = "refused"): Attempt => ({
  round: 1,
  number: 1,
  startedAt: new Date(startedMs).toISOString(),
  durationMs,
  outcome,
  status: 500,
  error: null,
  answer: null,
});

it("attempts of all deliveries are on one axis, which begins with the first of them", () => {
  const axis = axisOf(
    new Map([
      ["a", [attempt(1000, 20), attempt(22_000, 10)]],
      ["b", [attempt(1010, 800, "acknowledged")]],
    ]),
  );
  const first = axis?.bars.get("a")?.[0];
  const last = axis?.bars.get("a")?.[1];
  expect(first?.from).toBe(0);
  expect(last?.to).toBe(1);
  expect(axis?.totalMs).toBe(21_010);
  expect(axis?.bars.get("b")?.[0]?.to).toBeGreaterThan(first?.to ?? 1);
  expect(axis?.ticks.map(({ ms }) => ms)).toEqual([10, 100, 1000, 10_000]);
});

it("without attempts there is no axis", () => {
  expect(axisOf(new Map([["a", []]]))).toBeUndefined();
});
