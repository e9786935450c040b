import { describe, expect, it } from "vitest";
import type { DeliveryLog, LogEntry } from "./delivery-log.js";
import { readWindow } from "./read-window.js";

const load = () => Promise.resolve({ headers: {}, body: new Uint8Array() });
const entry = (ms: number, id = `e${ms}`): LogEntry => ({ id, at: new Date(ms), load });

/** Newest first, three to a page. */
function logOf(...oldestFirst: LogEntry[]): DeliveryLog {
  const newest = oldestFirst.toReversed();
  return {
    title: "A log",
    name: "log",
    keptMs: 1e9,
    page({ since, next = "0" }) {
      const at = Number(next);
      const rest = newest.filter((each) => each.at >= since);
      const more = rest.length > at + 3;
      return Promise.resolve({ entries: rest.slice(at, at + 3), next: more ? String(at + 3) : undefined });
    },
  };
}

const reading = { fromMs: 10, baseMs: 20, unsettled: [], maxEntries: 3, signal: undefined };
const ids = (entries: readonly { readonly id: string }[] = []) => entries.map(({ id }) => id);

describe("the window of a log", () => {
  it("has the oldest entries that were not looked at, oldest first, where there are more than a run may read", async () => {
    const found = await readWindow(logOf(...[5, 15, 25, 26, 27, 28, 29].map((ms) => entry(ms))), reading);
    expect(ids(found?.later)).toEqual(["e15", "e25", "e26", "e27"]);
    expect(found?.isCut).toBe(true);
  });

  it("passes an overlap of as many entries as a run may read", async () => {
    const times = [11, 12, 13, 14, 15, 16, 21, 22];
    const found = await readWindow(logOf(...times.map((ms) => entry(ms))), reading);
    expect(ids(found?.later)).toEqual(times.map((ms) => `e${ms}`));
    expect(found?.isCut).toBe(false);
  });

  it("has an event once, however often it was delivered", async () => {
    const found = await readWindow(logOf(entry(21, "a"), entry(22, "b"), entry(23, "a")), reading);
    expect(ids(found?.later)).toEqual(["b", "a"]);
  });

  it("has entries of earlier runs from before it, and names those that the log has lost", async () => {
    const unsettled = ["e3", "e2", "gone"].map((id, n) => ({ id, atMs: 3 - n }));
    const log = logOf(...[2, 3, 4, 15, 25].map((ms) => entry(ms)));
    const found = await readWindow(log, { ...reading, unsettled });
    expect(ids(found?.earlier)).toEqual(["e3", "e2"]);
    expect(ids(found?.later)).toEqual(["e15", "e25"]);
    expect(ids(found?.lost)).toEqual(["gone"]);
  });

  it.each([
    ["the same page again", ["a", "a"]],
    ["pages in a circle", ["a", "b", "a"]],
  ])("is not read for ever where the log gives %s", async (_name, places) => {
    let asked = 0;
    const log: DeliveryLog = {
      ...logOf(),
      page: () => {
        // Without an end of its own, the test of a loop that is broken would never fail.
        if (asked >= 10) return Promise.resolve({ entries: [], next: undefined });
        const next = places[asked % places.length];
        asked += 1;
        return Promise.resolve({ entries: [entry(20 + asked)], next });
      },
    };
    await expect(readWindow(log, reading)).rejects.toMatchObject({
      code: "repair_log_unreadable",
      message:
        "The log of A log could not be read: its API gave the same place for the next page twice: its list has no end.",
    });
    expect(asked).toBe(places.length);
  });

  it("keeps an earlier entry waiting that was delivered again among what was cut off", async () => {
    const log = logOf(...[21, 22, 23, 24].map((ms) => entry(ms)), entry(25, "again"));
    const found = await readWindow(log, { ...reading, unsettled: [{ id: "again", atMs: 5 }] });
    expect(found).toMatchObject({ earlier: [], lost: [], waiting: [{ id: "again", atMs: 5 }], isCut: true });
  });
});
