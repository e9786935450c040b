import { describe, expect, it, vi } from "vitest";
import { Exchange, parseHttpDate, parseRetryAfter } from "./exchange.js";

function begin(deadlineMs = 10_000, leftMs?: () => number) {
  const onLate = vi.fn<() => void>();
  const onDone = vi.fn<() => void>();
  const clock = { at: 0, now: () => 0, monotonic: () => clock.at };
  const host = { clock, onLate, onDone };
  const exchange = new Exchange({ url: "", headers: {}, body: new Uint8Array(), deadlineMs, leftMs }, host);
  const abort = vi.fn<(reason: Error) => void>((reason) => exchange.onResponseError(null, reason));
  return { exchange, controller: { abort }, abort, onLate, onDone, clock };
}

describe("an exchange", () => {
  it("that is handed out a second time is not written a second time", async () => {
    const { exchange, controller, abort } = begin();
    exchange.onRequestStart(controller);
    exchange.onRequestStart(controller);
    expect(abort).toHaveBeenCalledOnce();
    expect((await exchange.result).outcome).toEqual({ kind: "unknown", reason: "reset" });
  });

  it("that ended unsent is not written later", async () => {
    const { exchange, controller, abort } = begin();
    exchange.endUnsent({ outcome: { kind: "unreachable", reason: "dns" }, detail: undefined });
    exchange.onRequestStart(controller);
    expect([abort.mock.calls.length, exchange.sent]).toEqual([1, false]);
    expect((await exchange.result).outcome).toEqual({ kind: "unreachable", reason: "dns" });
  });

  it.each([
    [9999, 0],
    [10_000, 1],
  ])(
    "of a process that was stopped before it wrote is not written after its deadline: its lane may be another's (%i ms)",
    async (afterMs, aborts) => {
      const { exchange, controller, abort, clock } = begin(10_000);
      clock.at = afterMs;
      exchange.onRequestStart(controller);
      expect([abort.mock.calls.length, exchange.sent]).toEqual([aborts, aborts === 0]);
      exchange.onResponseStart(controller, 204, {});
      exchange.onResponseEnd();
      const unsent = { kind: "unreachable", reason: "connect" };
      const { outcome } = await exchange.result;
      expect(outcome).toEqual(aborts === 0 ? { kind: "acknowledged", status: 204 } : unsent);
    },
  );

  it("that was handed out late ends when the time is over that its sender counts", () => {
    vi.useFakeTimers();
    try {
      let leftMs = 20;
      const { exchange, controller, abort, onLate } = begin(10_000, () => leftMs);
      vi.advanceTimersByTime(20);
      expect(onLate).toHaveBeenCalledOnce();
      leftMs = 0;
      exchange.onRequestStart(controller);
      expect([abort.mock.calls.length, exchange.sent]).toEqual([1, false]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("is settled once, and gives its connection back once", async () => {
    const { exchange, controller, onDone } = begin();
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    exchange.onResponseEnd();
    exchange.onResponseError(controller, new Error("late"));
    expect(await exchange.result).toMatchObject({ outcome: { kind: "acknowledged", status: 200 } });
    expect(onDone.mock.calls).toEqual([[exchange, false]]);
  });

  it("whose deadline comes before it is sent asks its host to end it", async () => {
    const { exchange, onLate } = begin(1);
    await expect.poll(() => onLate.mock.calls).toEqual([[exchange]]);
  });

  it("keeps a copy of the first bytes, however they come", async () => {
    const { exchange, controller, abort } = begin();
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    const chunk = new Uint8Array(1000);
    for (let n = 0; n < 17; n += 1) exchange.onResponseData(controller, chunk.fill(n));
    const { answer } = await exchange.result;
    expect([answer?.length, answer?.[0], answer?.[15_999], answer?.[16_383]]).toEqual([16_384, 0, 15, 16]);
    expect(abort).toHaveBeenCalledOnce();
  });
});

const NOW = Date.parse("2026-11-15T12:00:00Z");

describe("Retry-After", () => {
  it.each([
    ["0", 0],
    ["120", 120_000],
    [" 120 ", 120_000],
    ["007", 7000],
    ["99999999999999999999", Number.MAX_SAFE_INTEGER],
    ["Sun, 15 Nov 2026 12:00:30 GMT", 30_000],
    ["Sunday, 15-Nov-26 12:00:30 GMT", 30_000],
    ["Sun Nov 15 12:00:30 2026", 30_000],
    ["Sun Nov  8 12:00:30 2026", 0],
    ["Sun, 15 Nov 2026 11:59:59 GMT", 0],
  ])("%j is understood", (value, ms) => {
    expect(parseRetryAfter(value, NOW)).toBe(ms);
  });

  it.each([
    undefined,
    "",
    "-1",
    "+1",
    "1.5",
    "1e3",
    "0x10",
    "soon",
    "60s",
    "1, 2",
    "２０",
    "2026-11-15T12:00:30Z",
    "15 Nov 2026 12:00:30",
    "Sun, 15 Nov 2026 12:00:30 +0100",
    "Sun, 15 Nov 2026 12:00:30",
    "Sun, 31 Feb 2026 12:00:00 GMT",
    "Sun, 15 Nov 2026 24:00:00 GMT",
    "Sun, 15 Nov 2026 12:60:00 GMT",
    "Sun, 15 Nov 2026 12:00:61 GMT",
    "Sun, 15 Foo 2026 12:00:00 GMT",
  ])("%j is none, and nobody guesses", (value) => {
    expect(parseRetryAfter(value, NOW)).toBeUndefined();
  });
});

describe("a date of HTTP", () => {
  it("with two digits of a year is at most 50 years ahead", () => {
    expect(parseHttpDate("Tuesday, 15-Nov-77 12:00:00 GMT", NOW)).toBe(Date.parse("1977-11-15T12:00:00Z"));
    expect(parseHttpDate("Tuesday, 15-Nov-76 12:00:00 GMT", NOW)).toBe(Date.parse("2076-11-15T12:00:00Z"));
  });

  it("of a leap second is the second before it", () => {
    const last = Date.parse("2016-12-31T23:59:59Z");
    expect(parseHttpDate("Sat, 31 Dec 2016 23:59:60 GMT", NOW)).toBe(last);
  });

  it("of the first century is of the first century", () => {
    expect(parseHttpDate("Mon, 01 Jan 0001 00:00:00 GMT", NOW)).toBeLessThan(
      Date.parse("1000-01-01T00:00:00Z"),
    );
  });
});
