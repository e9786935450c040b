import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { controlOf, FEATURES, STORE_MUTANTS } from "./all.js";
import { DECISIONS } from "./decisions.js";
import type { Planted } from "./mutant.js";
import { isRightFailure, plantedIn } from "./mutant.js";
import { NTH_CALLS } from "./nth-calls.js";
import { suitesOf } from "./suites.js";
import { WORKER_DECISIONS } from "./worker-decisions.js";

// `npx tsx scripts/mutants.ts` plants them. Here the tables themselves are kept true, so that a refactoring tells.

const sourceOf = ({ file }: Planted): string =>
  readFileSync(new URL(`../../library/src/${file}`, import.meta.url), "utf8");

describe("planted bugs", () => {
  it.each([...STORE_MUTANTS, ...DECISIONS, ...WORKER_DECISIONS, ...NTH_CALLS])(
    "$file: $name: has its one place",
    (planted) => {
      const source = sourceOf(planted);
      expect(plantedIn(source, planted)).not.toBe(source);
    },
  );

  it("have names of their own", () => {
    const names = STORE_MUTANTS.map(({ database, name }) => `${database}: ${name}`);
    expect(new Set(names).size).toBe(names.length);
    const decisions = [...DECISIONS, ...WORKER_DECISIONS].map(({ name }) => name);
    expect(new Set(decisions).size).toBe(decisions.length);
  });

  it("are as many as the proof says", () => {
    expect(STORE_MUTANTS.filter(({ database }) => database === "sqlite").length).toBeGreaterThanOrEqual(25);
    expect(STORE_MUTANTS.filter(({ database }) => database === "postgres").length).toBeGreaterThanOrEqual(25);
  });

  it("stand on the page that tells of them, each with what catches it", () => {
    const page = readFileSync(new URL("../../docs/proof.md", import.meta.url), "utf8");
    const lines = page.split("\n");
    const missing = STORE_MUTANTS.filter(
      ({ name, caughtBy }) =>
        !lines.some((line) => line.startsWith(`| ${name} |`) && line.includes(caughtBy.case)),
    );
    expect(missing.map(({ name }) => name)).toEqual([]);
    for (const { name, file } of [...DECISIONS, ...WORKER_DECISIONS, ...NTH_CALLS])
      expect(lines).toContain(`| ${name} | \`${file}\` |`);
  });

  it("are looked for by cases that there are", () => {
    const known = { sqlite: suitesOf("sqlite", ""), postgres: suitesOf("postgres", "") };
    const missing = STORE_MUTANTS.filter(
      ({ database, caughtBy }) => !known[database][caughtBy.suite].some(({ name }) => name === caughtBy.case),
    );
    expect(missing).toEqual([]);
    for (const { suite, case: control } of FEATURES)
      expect(known.sqlite[suite].map(({ name }) => name)).toContain(control);
  });

  it("each have a control of their feature, which is not what catches them", () => {
    const same = STORE_MUTANTS.filter((mutant) => controlOf(mutant).case === mutant.caughtBy.case);
    expect(same.map(({ name }) => name)).toEqual([]);
  });

  it("are caught by what their cases expect, or as is said of them, and by no accident", () => {
    const expectation = { how: "expectation", told: "found 1, promised 2." } as const;
    const accident = { how: "error", told: "TypeError: x is not a function" } as const;
    const late = { how: "lateness", told: "it did not end" } as const;
    expect([expectation, accident, late].map((each) => isRightFailure({}, each))).toEqual([
      true,
      false,
      false,
    ]);
    expect([expectation, accident, late].map((each) => isRightFailure({ shows: "lateness" }, each))).toEqual([
      false,
      false,
      true,
    ]);
    const named = { shows: /deadlock/ };
    expect(isRightFailure(named, { how: "error", told: "error: deadlock detected" })).toBe(true);
    expect([expectation, accident, late].map((each) => isRightFailure(named, each))).toEqual([
      false,
      false,
      false,
    ]);
  });
});
