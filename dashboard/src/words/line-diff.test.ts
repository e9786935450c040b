import { expect, it } from "vitest";
import { lineDiff } from "./line-diff.ts";

const shown = (before: string, after: string): string | undefined =>
  lineDiff(before.split(""), after.split(""))
    ?.map(({ kind, text }) => `${{ same: " ", del: "-", add: "+" }[kind]}${text}`)
    .join("");

it("shows what two texts share, what was taken away, and what was added", () => {
  expect(shown("abc", "abc")).toBe(" a b c");
  expect(shown("abc", "adc")).toBe(" a-b+d c");
  expect(shown("", "xy")).toBe("+x+y");
  expect(shown("xy", "")).toBe("-x-y");
  expect(shown("abcabba", "cbabac")?.replaceAll(/[-+]./g, "")).toBe(" c b b a");
});

it("the first text stands in what is shared and taken away, the second in what is shared and added", () => {
  const [before, after] = ["kitten sitting".split(""), "sitting kitten".split("")];
  const lines = lineDiff(before, after) ?? [];
  expect(lines.filter(({ kind }) => kind !== "add").map(({ text }) => text)).toEqual(before);
  expect(lines.filter(({ kind }) => kind !== "del").map(({ text }) => text)).toEqual(after);
});

it("does not compare what would stop the page", () => {
  expect(lineDiff(Array.from({ length: 1501 }, String), ["a"])).toBeUndefined();
});
