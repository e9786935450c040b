import type { SeriesQuery } from "posthorn/client";
import { hrefOf, place, setQuery } from "../place/location.ts";

/** A part of the time that pages offer, and the steps in which it is drawn. */
interface Range {
  readonly name: string;
  readonly words: string;
  readonly ms: number;
  readonly stepS: number;
}

const HOUR_MS = 3_600_000;

export const RANGES: readonly Range[] = [
  { name: "15m", words: "last 15 minutes", ms: HOUR_MS / 4, stepS: 60 },
  { name: "1h", words: "last hour", ms: HOUR_MS, stepS: 60 },
  { name: "6h", words: "last 6 hours", ms: 6 * HOUR_MS, stepS: 300 },
  { name: "24h", words: "last 24 hours", ms: 24 * HOUR_MS, stepS: 900 },
  { name: "7d", words: "last 7 days", ms: 168 * HOUR_MS, stepS: 3600 },
  { name: "30d", words: "last 30 days", ms: 720 * HOUR_MS, stepS: 21_600 },
];

/** How often a course is asked for again: long ones hardly change. */
export function courseEveryMs({ stepS }: Pick<Window, "stepS">): number {
  return stepS <= 60 ? 4000 : 20_000;
}

/** What a page shows the course of: a range by its name, or a part that was zoomed into. */
export interface Window {
  /** For the question to the API. */
  readonly query: SeriesQuery;
  readonly words: string;
  readonly stepS: number;
  /** Empty where it was zoomed into. */
  readonly name: string;
}

/** Reads it from the query of the page, which a link to it therefore carries. */
export function windowOf(query: URLSearchParams, usual: string): Window {
  const since = Date.parse(query.get("since") ?? "");
  const until = Date.parse(query.get("until") ?? "");
  if (since < until) return zoomed(since, until);
  const asked = query.get("range") ?? usual;
  const range = RANGES.find(({ name }) => name === asked) ?? RANGES[1];
  const { name = "1h", words = "", stepS = 60 } = range ?? {};
  return { query: { since: name, step: stepS }, words, stepS, name };
}

const STEPS_S = [60, 300, 900, 3600, 21_600, 86_400];
const MOST_STEPS = 120;
// Minutes are kept for 48 hours.
const MINUTES_MS = 47 * HOUR_MS;

function zoomed(since: number, until: number): Window {
  const least = Date.now() - since > MINUTES_MS ? 3600 : 60;
  const fits = (step: number): boolean => step >= least && (until - since) / 1000 / step <= MOST_STEPS;
  const stepS = STEPS_S.find((step) => fits(step)) ?? 86_400;
  return {
    query: { since: new Date(since).toISOString(), until: new Date(until).toISOString(), step: stepS },
    words: "the part that you chose",
    stepS,
    name: "",
  };
}

/** Shows a part of what is shown. */
export function zoomTo(fromMs: number, toMs: number): void {
  setQuery({ range: undefined, since: new Date(fromMs).toISOString(), until: new Date(toMs).toISOString() });
}

/** Shows a range by its name. */
export function showRange(name: string): void {
  setQuery({ range: name, since: undefined, until: undefined });
}

/** The rows behind a figure of the same part of the time. */
export function rowsHref(path: string, { query, name }: Window, more: Record<string, string> = {}): string {
  const { since, until } = query;
  return hrefOf(path, { ...more, since: name === "" ? since : name, until });
}

export function currentWindow(usual: string): Window {
  return windowOf(place.value.query, usual);
}

/** "per minute", "per 5 minutes", "per hour". */
export function perStep(stepS: number): string {
  if (stepS === 60) return "per minute";
  if (stepS < 3600) return `per ${stepS / 60} minutes`;
  if (stepS === 3600) return "per hour";
  return stepS === 86_400 ? "per day" : `per ${stepS / 3600} hours`;
}
