import { expect, it } from "vitest";
import { colourWanted, paint } from "./colour.js";

it.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: "1" }, false],
  [true, { NO_COLOR: "" }, true],
  [true, { TERM: "dumb" }, false],
  [false, { FORCE_COLOR: "1" }, true],
  [true, { FORCE_COLOR: "0" }, false],
  [true, { FORCE_COLOR: "false" }, false],
  [false, { FORCE_COLOR: "3", NO_COLOR: "1" }, true],
  [false, { FORCE_COLOR: "" }, false],
])("on a terminal: %s, with %j: colour is %s", (isTty, environment, wanted) => {
  expect(colourWanted({ isTty, environment })).toBe(wanted);
});

it("colour ends where the text ends, and nothing is painted without it", () => {
  expect(paint("dead", "bad", true)).toBe("\u001b[31mdead\u001b[39m");
  expect(paint("dead", "bad", false)).toBe("dead");
  expect(paint("", "bad", true)).toBe("");
});
