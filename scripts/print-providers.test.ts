import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { PROVIDER_SCHEMES } from "../library/src/providers.js";
import * as providers from "../library/src/providers.js";
import { duration, providersPage } from "./print-providers.js";

it("docs/providers.md is what the schemes print; `npx tsx scripts/print-providers.ts` mends it", () => {
  const page = readFileSync(new URL("../docs/providers.md", import.meta.url), "utf8");
  expect(page).toBe(providersPage(PROVIDER_SCHEMES));
});

it("every scheme has a function of its name, and the page names it", () => {
  const exported = providers as unknown as Readonly<Record<string, unknown>>;
  for (const { name } of PROVIDER_SCHEMES) {
    const camelCase = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    expect([camelCase, typeof exported[camelCase]]).toEqual([camelCase, "function"]);
    expect(providersPage(PROVIDER_SCHEMES)).toContain(`| \`${camelCase}\` |`);
  }
});

it("the list of schemes is in the order of their names, each once", () => {
  const names = PROVIDER_SCHEMES.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)].toSorted());
});

it("no cell of the tables breaks its row", () => {
  const rows = providersPage(PROVIDER_SCHEMES)
    .split("\n")
    .filter((line) => line.startsWith("| "));
  const widths = new Set(rows.map((row) => row.split("|").length));
  expect(widths).toEqual(new Set([5, 11, 8]));
});

it.each([
  [5, "5 s"],
  [60, "1 min"],
  [300, "5 min"],
  [25_260, "7 h 1 min"],
  [86_400, "1 day"],
  [272_100, "3 days 3 h"],
])("%i seconds are told as %s", (seconds, words) => {
  expect(duration(seconds)).toBe(words);
});
