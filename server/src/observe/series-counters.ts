import type { Signal } from "posthorn";
import type { SeriesKind, SeriesRow, SeriesStep } from "../store/series.js";
import { LogHistogram } from "./log-histogram.js";
import type { IngestVerdict } from "./metrics.js";

/** What is counted of a source. */
export const SOURCE_COUNTS = [
  "stored",
  "duplicate",
  "conflict",
  "rejected",
  "failedIn",
  "published",
] as const;
/** What is counted of an endpoint. */
export const ENDPOINT_COUNTS = ["attempts", "delivered", "failed", "dead"] as const;

export type SourceCount = (typeof SOURCE_COUNTS)[number];
export type EndpointCount = (typeof ENDPOINT_COUNTS)[number];

// Further subjects share one row: a thousand rows are written in one statement.
const MOST_SUBJECTS = 1000;
const OTHERS = "other";
const STEPS: readonly SeriesStep[] = [60, 3600];

const VERDICTS: Readonly<Record<IngestVerdict, SourceCount | undefined>> = {
  stored: "stored",
  duplicate: "duplicate",
  conflict: "conflict",
  rejected: "rejected",
  failed: "failedIn",
  handshake: undefined,
};

/** What one subject had in one step. */
class Tally {
  readonly counts: Partial<Record<SourceCount | EndpointCount, number>> = {};
  readonly duration = new LogHistogram();
  readonly lag = new LogHistogram();
  /** How often it was changed, and up to which of these changes it was written. */
  changes = 0;
  written = 0;

  count(what: SourceCount | EndpointCount): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
    this.changes++;
  }
}

/** The tallies of one step. */
class Step {
  readonly step: SeriesStep;
  readonly at: Date;
  readonly total = new Tally();
  readonly #subjects = { source: new Map<string, Tally>(), endpoint: new Map<string, Tally>() };

  constructor(step: SeriesStep, at: Date) {
    this.step = step;
    this.at = at;
  }

  of(kind: "source" | "endpoint", name: string): Tally {
    const subjects = this.#subjects[kind];
    const known = subjects.get(name);
    if (known !== undefined) return known;
    const shown = subjects.size < MOST_SUBJECTS ? name : OTHERS;
    const tally = subjects.get(shown) ?? new Tally();
    subjects.set(shown, tally);
    return tally;
  }

  *all(): Iterable<readonly [SeriesKind, string, Tally]> {
    yield ["total", "", this.total];
    for (const kind of ["source", "endpoint"] as const)
      for (const [name, tally] of this.#subjects[kind]) yield [kind, name, tally];
  }
}

/** Rows to write; `written` says that they were. */
export interface SeriesBatch {
  readonly rows: readonly SeriesRow[];
  written(): void;
}

/**
 * Counts what this node sees, by minute and by hour. A batch holds each changed row whole, so that writing it twice
 * changes nothing; a step that has ended is kept until it was written.
 */
export class SeriesCounters {
  readonly #now: () => number;
  #nowMs = 0;
  #current: readonly Step[] = [];
  #ended: readonly Step[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  /** An event of a source got its verdict, or a request of it was rejected. */
  ingested(source: string, verdict: IngestVerdict): void {
    const what = VERDICTS[verdict];
    if (what !== undefined) this.#each("source", source, (tally) => tally.count(what));
  }

  /** An event was published through the API. */
  published(source: string): void {
    this.#each("source", source, (tally) => tally.count("published"));
  }

  observe(signal: Signal, lagMs: number | undefined): void {
    if (signal.kind === "delivery_attempted") {
      const { endpoint, outcome, durationMs } = signal;
      const isDelivered = outcome === "acknowledged";
      this.#each("endpoint", endpoint, (tally) => {
        tally.count("attempts");
        tally.count(isDelivered ? "delivered" : "failed");
        tally.duration.add(durationMs);
        if (isDelivered && lagMs !== undefined) tally.lag.add(lagMs);
      });
    } else if (signal.kind === "delivery_dead")
      this.#each("endpoint", signal.endpoint, (tally) => tally.count("dead"));
  }

  /** Every row that has changed since it was last written. */
  batch(): SeriesBatch {
    this.#steps();
    const ended = this.#ended;
    const changed = [...ended, ...this.#current].flatMap((step) =>
      [...step.all()]
        .filter(([, , { changes, written }]) => changes > written)
        .map(([kind, name, tally]) => ({
          row: rowOf(step, kind, name, tally),
          tally,
          changes: tally.changes,
        })),
    );
    return {
      rows: changed.map(({ row }) => row),
      written: () => {
        // Up to the batch only: what was counted while it was written is written by the next one.
        for (const { tally, changes } of changed) tally.written = changes;
        this.#ended = this.#ended.filter((step) => !ended.includes(step));
      },
    };
  }

  #each(kind: "source" | "endpoint", name: string, count: (tally: Tally) => void): void {
    for (const step of this.#steps()) {
      count(step.total);
      count(step.of(kind, name));
    }
  }

  /** The current steps; one that has ended is put aside for the next batch. */
  #steps(): readonly Step[] {
    // Never back: a step that was written and begun again at nothing would replace what was written.
    this.#nowMs = Math.max(this.#nowMs, this.#now());
    const [minute] = this.#current;
    if (minute !== undefined && this.#nowMs < minute.at.getTime() + 60_000) return this.#current;
    const last = this.#current;
    this.#current = STEPS.map((step, n) => {
      const at = Math.floor(this.#nowMs / (step * 1000)) * step * 1000;
      const known = last[n];
      return known?.at.getTime() === at ? known : new Step(step, new Date(at));
    });
    // While the database is down, the oldest are dropped: a chart must not fill the memory.
    this.#ended = [...this.#ended, ...last.filter((step) => !this.#current.includes(step))].slice(
      -MOST_ENDED,
    );
    return this.#current;
  }
}

const MOST_ENDED = 60;

function rowOf(step: Step, kind: SeriesKind, name: string, tally: Tally): SeriesRow {
  return {
    step: step.step,
    kind,
    at: step.at,
    name,
    counts: { ...tally.counts },
    duration: tally.duration.toText(),
    lag: tally.lag.toText(),
  };
}
