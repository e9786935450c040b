import type { CaseFigures } from "./figures.js";
import { showValue, type Judged } from "./goals.js";
import type { Machine } from "./machine.js";
import type { JudgedRatio, Outcome } from "./report.js";

export interface TableOptions {
  /** Only for a terminal: escape codes in a file are noise. */
  readonly colour: boolean;
}

const BAR_WIDTH = 24;
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const BATCH_NOTE =
  "* p50 and p99 over means of batches of at least 0.5 ms each, not over single calls: single slow calls are averaged away.";

/** The whole printed result of a run. */
export function renderOutcome(
  suite: string,
  machine: Machine,
  outcome: Outcome,
  options: TableOptions,
): string {
  const { cpu, cores, memoryGiB, node, platform } = machine;
  const parts = [
    `${suite}: median of ${outcome.rounds} interleaved rounds`,
    `${cpu}, ${cores} cores, ${memoryGiB} GiB, Node ${node}, ${platform}`,
    "",
    renderCases(outcome.cases, options),
  ];
  if (outcome.cases.some((each) => each.kind === "loop")) parts.push(BATCH_NOTE);
  if (outcome.ratios.length > 0) parts.push("", renderRatios(outcome.ratios, options));
  if (outcome.limits.length > 0) parts.push("", renderLimits(outcome.limits, options));
  return `${parts.join("\n")}\n`;
}

export function renderCases(cases: readonly CaseFigures[], options: TableOptions): string {
  const rows = cases.map((each) => {
    const fastest = Math.max(
      ...cases.filter((other) => other.group === each.group).map((other) => other.perSecond),
    );
    const mark = each.kind === "loop" ? " *" : "  ";
    return [
      each.name,
      showRate(each.perSecond),
      showTime(each.p50Ms) + mark,
      showTime(each.p99Ms) + mark,
      paint(bar(each.perSecond / fastest), "cyan", options),
    ];
  });
  const lines = alignColumns([["case", "per second", "p50  ", "p99  ", ""], ...rows], "lrrrl");
  // A blank line between groups, because a bar compares with its own group only.
  return lines
    .map((line, index) =>
      index > 1 && cases[index - 1]?.group !== cases[index - 2]?.group ? `\n${line}` : line,
    )
    .join("\n");
}

function renderRatios(ratios: readonly JudgedRatio[], options: TableOptions): string {
  const rows = ratios.map((ratio) => [
    ratio.name,
    showValue(ratio.value),
    `${showValue(ratio.low)} to ${showValue(ratio.high)}`,
    ratio.goal ?? "",
    verdict(ratio, options),
  ]);
  return alignColumns([["ratio", "median", "half of the rounds", "goal", ""], ...rows], "lrrrl").join("\n");
}

function renderLimits(limits: readonly Judged[], options: TableOptions): string {
  const rows = limits.map((limit) => [
    limit.name,
    showValue(limit.value),
    limit.goal ?? "",
    verdict(limit, options),
  ]);
  return alignColumns([["limit", "value", "goal", ""], ...rows], "lrrl").join("\n");
}

function verdict({ goal, met }: Judged, options: TableOptions): string {
  if (goal === null) return "reported";
  return met ? paint("met", "green", options) : paint("NOT MET", "red", options);
}

/** A bar of a share of the width, fine to an eighth of a character. */
export function bar(share: number): string {
  const eighths = Math.round(Math.min(Math.max(share, 0), 1) * BAR_WIDTH * 8);
  return "█".repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? "");
}

export function showRate(perSecond: number): string {
  return perSecond.toLocaleString("en-US", { maximumFractionDigits: perSecond < 100 ? 1 : 0 });
}

/** Three digits and the unit that suits: a column of 0.004 ms says little. */
export function showTime(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toPrecision(3)} s`;
  if (ms >= 1) return `${ms.toPrecision(3)} ms`;
  if (ms >= 1e-3) return `${(ms * 1e3).toPrecision(3)} µs`;
  return `${(ms * 1e6).toPrecision(3)} ns`;
}

/** Pads by what is seen: an escape code has no width, and counting it would push painted cells out of line. */
export function alignColumns(rows: readonly (readonly string[])[], sides: string): string[] {
  const widths = Array.from(sides, (_, column) =>
    Math.max(...rows.map((row) => seenWidth(row[column] ?? ""))),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const padding = " ".repeat((widths[column] ?? 0) - seenWidth(cell));
        return sides[column] === "r" ? padding + cell : cell + padding;
      })
      .join("  ")
      .trimEnd(),
  );
}

const CODES = { red: 31, green: 32, cyan: 36 } as const;

function paint(text: string, colour: keyof typeof CODES, options: TableOptions): string {
  return options.colour ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;
}

function seenWidth(cell: string): number {
  // oxlint-disable-next-line no-control-regex -- the escape character is what is looked for
  return cell.replaceAll(/\u001b\[\d+m/g, "").length;
}
