import { expectNone } from "./case.js";
import type { Vector } from "./vectors.js";

/** Verdicts that were right, by scheme. */
export type Counts = Record<string, { accepted: number; refused: number }>;

/** What programs/report.mjs prints. */
export interface Report {
  readonly sync: "works" | "sync_unavailable";
  readonly checks: number;
  readonly schemes: Counts;
  readonly failures: readonly string[];
}

/** Compares a report with what the files of vectors demand; a program that judged fewer than all did not succeed. */
export function checkReport(report: Report, vectors: readonly Vector[], sync: Report["sync"]): string {
  const wanted = countVectors(vectors);
  const schemes = new Set([...Object.keys(wanted), ...Object.keys(report.schemes)]);
  const differences = [...schemes].flatMap((scheme) => {
    const [found, expected] = [printCounts(report.schemes[scheme]), printCounts(wanted[scheme])];
    return found === expected ? [] : [`${scheme}: ${found}; the files demand ${expected}.`];
  });
  const noSync = report.sync === sync ? [] : [`Synchronous cryptography: ${report.sync}, expected ${sync}.`];
  expectNone([...differences, ...noSync, ...report.failures]);
  const forms = sync === "works" ? "verify and verifySync" : "verify, no verifySync";
  return `${report.checks} checks, ${vectors.length} vectors of ${schemes.size} schemes, ${forms}`;
}

function countVectors(vectors: readonly Vector[]): Counts {
  const counts: Counts = {};
  for (const { scheme, expect } of vectors) {
    const count = (counts[scheme] ??= { accepted: 0, refused: 0 });
    count[expect.verdict === "accept" ? "accepted" : "refused"]++;
  }
  return counts;
}

function printCounts(counts: Counts[string] | undefined): string {
  return counts === undefined ? "none" : `${counts.accepted} accepted, ${counts.refused} refused`;
}

const POSTED = {
  changed: "401 refused",
  nobody: "404 refused",
  first: "204 applied",
  exact: true,
  again: "204 duplicate",
};

/** What programs/fetch-door.mjs tells where all is well. */
export const FETCH_DOOR = {
  told: { spaced: POSTED, notUtf8: POSTED, megabyte: POSTED, empty: POSTED },
  handled: 4,
};
