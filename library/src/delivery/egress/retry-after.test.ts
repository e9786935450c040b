import { describe, expect, it } from "vitest";
import { parseHttpDate, parseRetryAfter } from "./retry-after.js";

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
