import { Histogram } from "./histogram.js";
import { median } from "./median.js";
import type { Case } from "./suite.js";

/** What one case did in its turn of one round. */
export interface Turn {
  readonly operations: number;
  readonly elapsedMs: number;
  readonly latencies: Histogram;
}

export interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export type Figure = keyof Figures;

/** A case after its last round: the median rate, the quantiles over all rounds, and each round by itself. */
export interface CaseFigures extends Figures {
  readonly name: string;
  readonly group: string;
  readonly kind: Case["kind"];
  readonly rounds: readonly Figures[];
}

export function figuresOf(measured: Case, turns: readonly Turn[]): CaseFigures {
  const rounds = turns.map(figuresOfTurn);
  const all = new Histogram();
  for (const turn of turns) all.add(turn.latencies);
  return {
    name: measured.name,
    group: measured.group ?? "",
    kind: measured.kind,
    rounds,
    perSecond: median(rounds.map((round) => round.perSecond)),
    p50Ms: all.quantile(0.5),
    p99Ms: all.quantile(0.99),
  };
}

function figuresOfTurn(turn: Turn): Figures {
  return {
    perSecond: (turn.operations / turn.elapsedMs) * 1000,
    p50Ms: turn.latencies.quantile(0.5),
    p99Ms: turn.latencies.quantile(0.99),
  };
}
