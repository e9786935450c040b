import type { CaseFigures, Figures } from "./figures.js";
import type { Judged } from "./goals.js";
import type { Machine } from "./machine.js";

/** A ratio and where the middle half of its rounds lies, which shows how far to trust it. */
export interface JudgedRatio extends Judged {
  readonly low: number;
  readonly high: number;
}

/** All that a run found. */
export interface Outcome {
  readonly rounds: number;
  readonly cases: readonly CaseFigures[];
  readonly ratios: readonly JudgedRatio[];
  readonly limits: readonly Judged[];
}

/** The JSON of a run: what CI keeps and compares, and nothing else. */
export interface Report {
  readonly suite: string;
  readonly machine: Machine;
  readonly results: readonly (Figures & { readonly name: string })[];
  readonly ratios: readonly Judged[];
  readonly limits: readonly Judged[];
}

export function reportOf(suite: string, machine: Machine, outcome: Outcome): Report {
  return {
    suite,
    machine,
    results: outcome.cases.map(({ name, perSecond, p50Ms, p99Ms }) => ({
      name,
      perSecond: rounded(perSecond),
      p50Ms: rounded(p50Ms),
      p99Ms: rounded(p99Ms),
    })),
    ratios: outcome.ratios.map(bare),
    limits: outcome.limits.map(bare),
  };
}

function bare({ name, value, goal, met }: Judged): Judged {
  return { name, value: rounded(value), goal, met };
}

/** Five digits: more is noise that makes two reports look different. */
function rounded(value: number): number {
  return Number(value.toPrecision(5));
}
