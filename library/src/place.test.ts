import { describe, expect, it } from "vitest";
import { parsePlace, placeText } from "./place.js";

describe("a place in a request", () => {
  it("is a header, in lower case, or a JSON pointer by its steps", () => {
    expect(parsePlace({ header: "X-Account" })).toEqual({ header: "x-account" });
    expect(parsePlace({ json: "/data/a~1b" })).toEqual({ pointer: ["data", "a/b"] });
  });

  it.each([{ header: "x-account" }, { json: "/data/a~1b~0c/0" }])(
    "is written as it was read: %j",
    (option) => {
      const place = parsePlace(option);
      const written = place && placeText(place).replace(/header|json/, '"$&"');
      expect(JSON.parse(written ?? "")).toEqual(option);
    },
  );

  it.each([
    undefined,
    null,
    "x-account",
    {},
    { header: "" },
    { header: "two words" },
    { header: ["a"] },
    { json: "data" },
    { json: "" },
    { json: 7 },
    { header: "x-account", json: "/data" },
  ])("is not %j", (value) => {
    expect(parsePlace(value)).toBeUndefined();
  });
});
