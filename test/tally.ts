/** What a run came to. Lanes hand theirs to scripts/test.ts as JSON, in the file that this variable names. */
export const tallyFileVariable = "POSTHORN_TALLY_FILE";

export interface Skip {
  readonly test: string;
  readonly reason: string;
}

export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skips: readonly Skip[];
}

export const emptyTally: Tally = { passed: 0, failed: 0, skips: [] };

export function addTallies(a: Tally, b: Tally): Tally {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skips: [...a.skips, ...b.skips] };
}

/** The skips with their reasons, then the total alone on the last line, where CI reads it. */
export function printTally({ passed, failed, skips }: Tally): string {
  const list = skips.map(({ test, reason }) => `skipped: ${test}: ${reason}\n`).join("");
  return `${list}${passed} passed, ${failed} failed${skips.length > 0 ? `, ${skips.length} skipped` : ""}\n`;
}
