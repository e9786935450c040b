import { expect, test } from "vitest";
import { parseArguments } from "./arguments.js";

const parse = (line: string) => parseArguments(line.split(" ").filter(Boolean), ["verify", "inbox"]);

test("nothing at all lists the suites, and so does --help", () => {
  expect(parse("")).toEqual({ kind: "list" });
  expect(parse("verify --help")).toEqual({ kind: "list" });
});

test("a suite runs in full unless told", () => {
  expect(parse("inbox")).toEqual({ kind: "run", suite: "inbox", quick: false });
});

test("flags stand before or behind the suite", () => {
  const expected = { kind: "run", suite: "verify", quick: true, json: "out.json" };
  expect(parse("--quick --json out.json verify")).toEqual(expected);
  expect(parse("verify --json=out.json --quick")).toEqual(expected);
});

test.each([
  ["nope", "unknown suite nope"],
  ["toString", "unknown suite toString"],
  ["verify --fast", "unknown flag --fast"],
  ["verify -q", "unknown flag -q"],
  ["verify inbox", "one suite at a time: found verify and inbox"],
  ["--quick", "no suite named"],
  ["verify --json", "--json needs a file name after it"],
  ["verify --json --quick", "--json needs a file name after it"],
  ["verify --json=", "--json needs a file name after it"],
])("`%s` is a mistake that is named", (line, message) => {
  expect(parse(line)).toEqual({ kind: "mistake", message });
});
