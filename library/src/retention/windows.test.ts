import { describe, expect, test } from "vitest";
import { memoryStore } from "../stores/memory/store.js";
import { createRetention } from "./retention.js";
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

const refused = (message: string): object =>
  expect.objectContaining({ code: "retention_invalid", message }) as object;

describe("a name that retention does not know is refused, with the name that was meant", () => {
  const store = memoryStore({ environment: "test" });
  test("of a window: what it was to keep would be removed by the default", () => {
    expect(() => createRetention({ store, windows: { eventMs: Infinity } } as never)).toThrow(
      refused('"eventMs" is no option of the windows of createRetention; did you mean "eventsMs"?'),
    );
  });

  test("of an option", () => {
    expect(() => createRetention({ store, window: { eventsMs: DAY } } as never)).toThrow(
      refused('"window" is no option of createRetention; did you mean "windows"?'),
    );
  });

  test("of a pass, and of passes without end", async () => {
    const retention = createRetention({ store });
    await expect(retention.remove({ sgnal: AbortSignal.abort() } as never)).rejects.toEqual(
      refused('"sgnal" is no option of remove; did you mean "signal"?'),
    );
    const signal = AbortSignal.abort();
    await expect(retention.keepRemoved({ signal, everyMS: 1 } as never)).rejects.toEqual(
      refused('"everyMS" is no option of keepRemoved; did you mean "everyMs"?'),
    );
  });
});

test("retention without a store is refused when it is made", () => {
  for (const given of [undefined, {}])
    expect(() => createRetention(given as never)).toThrow(
      /^The store of the retention is of type undefined;/,
    );
});
