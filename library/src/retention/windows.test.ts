import { expect, test } from "vitest";
import { checkedWindows, DEFAULT_WINDOWS, plannedKinds } from "./windows.js";

const DAY = 86_400_000;

function kinds(given: Parameters<typeof checkedWindows>[0]): string[] {
  return plannedKinds(checkedWindows(given)).map(({ kind }) => kind);
}

test("by default everything is kept for 30 days, and dead letters for 90 after they were resolved", () => {
  expect(plannedKinds(DEFAULT_WINDOWS)).toEqual([
    { kind: "dead", windowMs: 90 * DAY },
    { kind: "set_aside", windowMs: 30 * DAY },
    { kind: "events", windowMs: 30 * DAY, idWindowMs: 30 * DAY },
  ]);
});

test("what would go with its event anyway has no step of its own", () => {
  expect(kinds({ attemptsMs: 40 * DAY, answersMs: 35 * DAY, cancelledMs: 50 * DAY })).not.toContain(
    "attempts",
  );
  expect(kinds({ answersMs: DAY, attemptsMs: 7 * DAY, cancelledMs: 7 * DAY })).toEqual([
    "answers",
    "attempts",
    "cancelled",
    "dead",
    "set_aside",
    "events",
  ]);
});

test("ids that outlive their events are removed by the time that was written when the event went", () => {
  const planned = plannedKinds(checkedWindows({ eventsMs: DAY, idsMs: 90 * DAY }));
  expect(planned).toContainEqual({ kind: "ids", windowMs: 0 });
});

test("what is to be kept for ever is never looked at", () => {
  expect(kinds({ eventsMs: Infinity, deadMs: Infinity, setAsideMs: Infinity })).toEqual([
    "attempts",
    "cancelled",
  ]);
});

test.each([Number.NaN, -1, "30d" as unknown as number])("a window of %s is refused", (eventsMs) => {
  expect(() => checkedWindows({ eventsMs })).toThrowError(/windows\.eventsMs is .*expected milliseconds/);
});
