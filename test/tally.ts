import { writeFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

/** What a run came to. Lanes hand theirs to scripts/test.ts as JSON, in the file that this variable names. */
export const tallyFileVariable = "POSTHORN_TALLY_FILE";

export interface Skip {
  readonly test: string;
  readonly reason: string;
}

/** What failed, in one line: where only the end of a long output is kept, it must still be told. */
export interface Failure {
  readonly test: string;
  readonly error: string;
}

export interface Tally {
  readonly passed: number;
  readonly failures: readonly Failure[];
  readonly skips: readonly Skip[];
}

export const emptyTally: Tally = { passed: 0, failures: [], skips: [] };

export function failureOf(test: string, error: string): Tally {
  return { ...emptyTally, failures: [{ test, error }] };
}

export function addTallies(a: Tally, b: Tally): Tally {
  return {
    passed: a.passed + b.passed,
    failures: [...a.failures, ...b.failures],
    skips: [...a.skips, ...b.skips],
  };
}

/** Ends a program that tests: its tally goes to the file that scripts/test.ts has named, or else to its output. */
export function endWith(tally: Tally): void {
  // A run that tested nothing proves nothing.
  process.exitCode = tally.failures.length > 0 || tally.passed === 0 ? 1 : 0;
  const file = process.env[tallyFileVariable];
  if (file === undefined) process.stdout.write(`\n${printTally(tally)}`);
  else writeFileSync(file, JSON.stringify(tally));
}

const LONGEST_ERROR = 300;

/** The skips and failures with their reasons, then the total alone on the last line, where CI reads it. */
export function printTally({ passed, failures, skips }: Tally): string {
  const skipLines = skips.map(({ test, reason }) => `skipped: ${test}: ${reason}\n`);
  const failureLines = failures.map(({ test, error }) => `failed: ${test}: ${inOneLine(error)}\n`);
  const list = [...skipLines, ...failureLines].join("");
  const failed = failures.length;
  return `${list}${passed} passed, ${failed} failed${skips.length > 0 ? `, ${skips.length} skipped` : ""}\n`;
}

function inOneLine(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/\s+/g, " ").trim().slice(0, LONGEST_ERROR);
}
