import type { LogEntry } from "./delivery-log.js";
import { MOST_IN_A_ROW } from "./trial.js";
import type { Figure, Trial } from "./trial.js";

/** What came of entries that were tried one after the other. */
export interface Walked {
  readonly counts: Readonly<Record<Figure, number>>;
  /** Tried, and neither applied nor known. */
  readonly failed: readonly LogEntry[];
  /** Not tried, because what was tried before them said that they would fare no better. */
  readonly untried: readonly LogEntry[];
  /** Nothing further may be tried in this run. */
  readonly hasEnded: boolean;
}

type Unsettling = Extract<Trial, { readonly kind: "unsettled" }>;

/** Tries entries in their order, until one ends it or a few in a row have failed that `counts` in the row. */
export async function walk(
  entries: readonly LogEntry[],
  tryOne: (entry: LogEntry) => Promise<Trial>,
  counts: (trial: Unsettling) => boolean,
): Promise<Walked> {
  const figures = { applied: 0, duplicate: 0, skipped: 0, stale: 0 };
  const failed: LogEntry[] = [];
  const untried: LogEntry[] = [];
  let row = 0;
  let hasEnded = false;
  for (const entry of entries) {
    const trial = hasEnded || row >= MOST_IN_A_ROW ? undefined : await tryOne(entry);
    if (trial === undefined) untried.push(entry);
    else if (trial.kind === "ended") {
      hasEnded = true;
      untried.push(entry);
    } else if (trial.kind === "unsettled") {
      row = counts(trial) ? row + 1 : 0;
      failed.push(entry);
    } else {
      row = 0;
      figures[trial.as] += 1;
    }
  }
  return { counts: figures, failed, untried, hasEnded };
}
