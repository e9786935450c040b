import { expect, it } from "vitest";
import { textTime, unixTime } from "./event-time.js";

it("a time is read from ISO 8601 with any fraction, and from an HTTP date", () => {
  expect(textTime("2023-08-21T11:57:47.390028Z")?.toISOString()).toBe("2023-08-21T11:57:47.390Z");
  expect(textTime("2023-08-21T13:57:47+02:00")?.toISOString()).toBe("2023-08-21T11:57:47.000Z");
  expect(textTime("Mon, 21 Aug 2023 11:57:47 +0000")?.toISOString()).toBe("2023-08-21T11:57:47.000Z");
});

it("a text without a zone means UTC, wherever this machine stands", () => {
  const zone = process.env["TZ"];
  process.env["TZ"] = "America/New_York";
  try {
    // Else this test could not fail.
    expect(new Date("2023-08-21T11:57:47").toISOString()).toBe("2023-08-21T15:57:47.000Z");
    expect(textTime("2023-08-21T11:57:47.390028")?.toISOString()).toBe("2023-08-21T11:57:47.390Z");
    expect(textTime("2023-08-21 11:57:47")?.toISOString()).toBe("2023-08-21T11:57:47.000Z");
  } finally {
    if (zone === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zone;
  }
});

it("a time is read from unix milliseconds where the provider has them", () => {
  expect(unixTime(1_692_619_067_390, "ms")?.toISOString()).toBe("2023-08-21T11:57:47.390Z");
});

it("a time is read from unix seconds, with a fraction too", () => {
  expect(unixTime(1_692_619_067)?.toISOString()).toBe("2023-08-21T11:57:47.000Z");
  expect(unixTime(1_692_619_067.5)?.getTime()).toBe(1_692_619_067_500);
});

it("what is no time is none, and never an invalid date", () => {
  for (const text of [undefined, "", "yesterday", "2023-13-45"]) expect(textTime(text)).toBeUndefined();
  for (const value of [undefined, null, "1692619067", Number.NaN, Infinity, 1e20])
    expect(unixTime(value)).toBeUndefined();
});
