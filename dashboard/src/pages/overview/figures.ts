import type { Series } from "posthorn/client";
import { sum } from "../../parts/chart/scale.ts";
import { duration, grouped } from "../../words/format.ts";
import type { Look } from "../../words/words.ts";

/** One of the five numbers at the top of the overview. */
export interface Figure {
  readonly label: string;
  readonly value: string;
  readonly unit: string;
  readonly more: string;
  readonly values: readonly (number | null)[];
  readonly tone?: Look["tone"];
  readonly bars?: boolean;
}

/** Added up, step by step. */
export function added(left: readonly number[], right: readonly number[]): readonly number[] {
  return left.map((value, index) => value + (right[index] ?? 0));
}

/** Many are shown by the minute, few as they are: `0 /min` would hide the four events that came. */
function rate(values: readonly number[], { stepS }: Series, words: string): readonly [string, string] {
  const minutes = (values.length * stepS) / 60;
  const total = sum(values);
  const perMinute = minutes === 0 ? 0 : total / minutes;
  if (perMinute >= 10) return [grouped(Math.round(perMinute)), "/min"];
  return [grouped(total), words];
}

/** `99.2`, never 100 where one has failed. */
export function share(part: number, whole: number): string {
  if (whole === 0) return "–";
  const percent = (part / whole) * 100;
  if (part === whole) return "100";
  return Math.min(99.9, Math.floor(percent * 10) / 10).toFixed(1);
}

/** The largest of the quantiles of each step: what the slowest step was like. */
export function worst(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}

function split(ms: number | null): readonly [string, string] {
  if (ms === null) return ["–", ""];
  const [value = "", ...unit] = duration(ms).split(" ");
  return unit.length > 1 ? [duration(ms), ""] : [value, unit.join(" ")];
}

/** In, out, landed, lag, dead: of what is shown below them. */
export function figuresOf(series: Series, words: string, dead: number): readonly Figure[] {
  const { total } = series;
  const came = added(total.in, total.published);
  const [inValue, inUnit] = rate(came, series, words);
  const [outValue, outUnit] = rate(total.attempts, series, words);
  const failed = sum(total.failed);
  const delivered = sum(total.delivered);
  const [lagValue, lagUnit] = split(worst(total.lag.p99));
  const died = sum(total.dead);
  return [
    { label: "In", value: inValue, unit: inUnit, more: inWords(series), values: came },
    {
      label: "Out",
      value: outValue,
      unit: outUnit,
      more: failed === 0 ? "every attempt landed" : `${grouped(failed)} attempts failed`,
      values: total.attempts,
    },
    {
      label: "Landed",
      value: share(delivered, delivered + failed),
      unit: delivered + failed === 0 ? "" : "%",
      more: `${grouped(delivered)} of ${grouped(delivered + failed)} attempts`,
      values: total.delivered,
      tone: "landed",
    },
    {
      label: "Lag, p99",
      value: lagValue,
      unit: lagUnit,
      more: "from stored to acknowledged",
      values: total.lag.p99,
    },
    {
      label: "Dead",
      value: grouped(dead),
      unit: "",
      more: died === 0 ? `none ${words}` : `${grouped(died)} ${words}`,
      values: total.dead,
      tone: "dead",
      bars: true,
    },
  ];
}

function inWords({ total }: Series): string {
  const rejected = sum(total.rejected) + sum(total.conflict);
  const duplicate = sum(total.duplicate);
  if (rejected > 0) return `${grouped(rejected)} rejected`;
  return duplicate > 0 ? `${grouped(duplicate)} duplicates` : "no duplicate, none rejected";
}
