import { expect, it } from "vitest";
import { editDistance, nearest } from "./nearest.js";

it.each([
  ["listen", "listen", 0],
  ["lisen", "listen", 1],
  ["lsiten", "listen", 1],
  ["", "abc", 3],
  ["kitten", "sitting", 3],
])("from %j to %j are %i steps", (from, to, steps) => {
  expect(editDistance(from, to)).toBe(steps);
  expect(editDistance(to, from)).toBe(steps);
});

it.each([
  ["databse", "database"],
  ["dataDir", "data_dir"],
  ["data-dir", "data_dir"],
  ["lisen", "listen"],
])("%j was meant to be %j", (wanted, meant) => {
  expect(nearest(wanted, ["listen", "data_dir", "database", "roles"])).toBe(meant);
});

it("a name that is near none is not guessed at", () => {
  expect(nearest("colour", ["listen", "data_dir", "roles"])).toBeUndefined();
});
