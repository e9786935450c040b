import { describe, expect, it } from "vitest";
import { parsePlace } from "./place.js";

describe("a place in a request", () => {
  it("is a header, in lower case, or a JSON pointer by its steps", () => {
    expect(parsePlace({ header: "X-Account" })).toEqual({ header: "x-account" });
    expect(parsePlace({ json: "/data/a~1b" })).toEqual({ pointer: ["data", "a/b"] });
  });

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
