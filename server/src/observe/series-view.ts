import type { EndpointCounts, Quantiles, Series, SourceCounts } from "posthorn/client";
import type { SeriesRow, SeriesStep } from "../store/series.js";
import { LogHistogram } from "./log-histogram.js";

/** Which points a series has. */
export interface SeriesFrame {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly stepMs: number;
  /** The rows that it is made of. */
  readonly from: SeriesStep;
}

/** Steps that may be asked for, in seconds. */
export const STEPS: readonly number[] = [60, 300, 900, 3600, 21_600, 86_400];
const MOST_POINTS = 1500;
const COMFORTABLE_POINTS = 120;

/** The step that is taken where none is asked for: the smallest that gives at most 120 points. */
export function defaultStep(rangeMs: number): number {
  return STEPS.find((step) => rangeMs / (step * 1000) <= COMFORTABLE_POINTS) ?? 86_400;
}

/** Why a series cannot be had; undefined where it can. `keptMs`: how long minutes are kept. */
export function frameFault(
  sinceMs: number,
  untilMs: number,
  { stepS, nowMs, keptMs }: { readonly stepS: number; readonly nowMs: number; readonly keptMs: number },
): string | undefined {
  const points = Math.ceil((untilMs - sinceMs) / (stepS * 1000));
  if (points > MOST_POINTS)
    return `A step of ${stepS} s over this range gives ${points} points, and at most ${MOST_POINTS} are told. Ask for a larger step.`;
  if (stepS < 3600 && sinceMs < nowMs - keptMs)
    return `Minutes are kept for ${Math.round(keptMs / 3_600_000)} h, and \`since\` is longer ago. Ask for a step of 3600 s or more.`;
  return undefined;
}

/** Starts at a whole step, so that a chart that is drawn again a second later has the same points. */
export function frameOf(sinceMs: number, untilMs: number, stepS: number): SeriesFrame {
  const stepMs = stepS * 1000;
  return {
    sinceMs: Math.floor(sinceMs / stepMs) * stepMs,
    untilMs,
    stepMs,
    from: stepS < 3600 ? 60 : 3600,
  };
}

/** The sums of one subject, point by point. */
class Points {
  readonly name: string;
  readonly #counts = new Map<string, number[]>();
  readonly #duration: LogHistogram[];
  readonly #lag: LogHistogram[];
  sum = 0;

  constructor(name: string, length: number) {
    this.name = name;
    this.#duration = Array.from({ length }, () => new LogHistogram());
    this.#lag = Array.from({ length }, () => new LogHistogram());
  }

  add(point: number, { counts, duration, lag }: SeriesRow): void {
    for (const [what, count] of Object.entries(counts)) {
      const line = this.line(what);
      line[point] = (line[point] ?? 0) + count;
      this.sum += count;
    }
    if (duration !== "") this.#duration[point]?.merge(LogHistogram.fromText(duration));
    if (lag !== "") this.#lag[point]?.merge(LogHistogram.fromText(lag));
  }

  line(what: string): number[] {
    const known = this.#counts.get(what);
    if (known !== undefined) return known;
    const line = this.#duration.map(() => 0);
    this.#counts.set(what, line);
    return line;
  }

  sources(): SourceCounts {
    const parts = ["stored", "duplicate", "conflict", "rejected", "failedIn"].map((what) => this.line(what));
    return {
      in: this.#duration.map((_, n) => parts.reduce((sum, line) => sum + (line[n] ?? 0), 0)),
      stored: this.line("stored"),
      duplicate: this.line("duplicate"),
      conflict: this.line("conflict"),
      rejected: this.line("rejected"),
      failedIn: this.line("failedIn"),
      published: this.line("published"),
    };
  }

  endpoints(): EndpointCounts {
    return {
      attempts: this.line("attempts"),
      delivered: this.line("delivered"),
      failed: this.line("failed"),
      dead: this.line("dead"),
      duration: quantilesOf(this.#duration),
      lag: quantilesOf(this.#lag),
    };
  }
}

function quantilesOf(histograms: readonly LogHistogram[]): Quantiles {
  const at = (share: number): readonly (number | null)[] =>
    histograms.map((histogram) => histogram.quantile(share) ?? null);
  return { count: histograms.map(({ count }) => count), p50: at(0.5), p90: at(0.9), p99: at(0.99) };
}

// A page that draws more lines than this shows nothing.
const MOST_SUBJECTS = 200;

/** Makes the rows of all nodes into lines. */
export function seriesOf(frame: SeriesFrame, rows: readonly SeriesRow[]): Series {
  const { sinceMs, untilMs, stepMs } = frame;
  const length = Math.max(1, Math.ceil((untilMs - sinceMs) / stepMs));
  const total = new Points("", length);
  const subjects = { source: new Map<string, Points>(), endpoint: new Map<string, Points>() };
  for (const row of rows) {
    const point = Math.floor((row.at.getTime() - sinceMs) / stepMs);
    if (point < 0 || point >= length) continue;
    if (row.kind === "total") total.add(point, row);
    else {
      const points = subjects[row.kind].get(row.name) ?? new Points(row.name, length);
      subjects[row.kind].set(row.name, points);
      points.add(point, row);
    }
  }
  const [sources, endpoints] = [busiest(subjects.source), busiest(subjects.endpoint)];
  return {
    since: new Date(sinceMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    stepS: stepMs / 1000,
    times: Array.from({ length }, (_, n) => new Date(sinceMs + n * stepMs).toISOString()),
    total: { ...total.sources(), ...total.endpoints() },
    sources: sources.map((points) => Object.assign({ name: points.name }, points.sources())),
    endpoints: endpoints.map((points) => Object.assign({ id: points.name }, points.endpoints())),
    cut: subjects.source.size > MOST_SUBJECTS || subjects.endpoint.size > MOST_SUBJECTS,
  };
}

/** In the order of their names; where there are too many, the busiest. */
function busiest(subjects: ReadonlyMap<string, Points>): readonly Points[] {
  return [...subjects.values()]
    .toSorted((one, other) => other.sum - one.sum)
    .slice(0, MOST_SUBJECTS)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
