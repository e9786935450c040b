import type { Case } from "./case.js";

export interface Result {
  readonly test: Case;
  readonly verdict: "passed" | "failed" | "skipped";
  /** What the case had to say, or why it failed or was skipped. */
  readonly note: string;
}

export const MARKS: Readonly<Record<Result["verdict"], string>> = { passed: "✓", failed: "✗", skipped: "–" };

/** One row for each runtime that was tried, with its version; nothing where none was. */
export function printTable(results: readonly Result[], versions: ReadonlyMap<string, string>): string {
  const rows = results.filter(({ test }) => test.column !== undefined);
  if (rows.length === 0) return "";
  const columns = [...new Set(rows.map(({ test }) => test.column ?? ""))];
  const names = [...new Set(rows.map(({ test }) => test.topic))];
  const markOf = (name: string, column: string): string => {
    const result = rows.find(({ test }) => test.topic === name && test.column === column);
    return result === undefined ? "" : MARKS[result.verdict];
  };
  const rowOf = (name: string): string[] =>
    [name, versions.get(name) ?? ""].concat(columns.map((column) => markOf(name, column)));
  return align([["runtime", "version", ...columns], ...names.map(rowOf)]);
}

function align(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("  "));
  return `\n${lines.map((line) => line.trimEnd()).join("\n")}\n`;
}
