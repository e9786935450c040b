import { problem, shown } from "./problem.js";

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** An instant of a query: ISO 8601, or an age such as `90s`, `15m`, `24h` or `7d`. */
export const SINCE = {
  type: "string",
  minLength: 2,
  maxLength: 40,
  description: "ISO 8601, or an age such as `15m`, `24h` or `7d`.",
} as const;

export interface RangeQuery {
  readonly since?: string;
  readonly until?: string;
}

export interface TimeRange {
  readonly since: Date | undefined;
  readonly until: Date | undefined;
}

/** Reads `since` and `until`; throws `request_invalid` where one is no time, or where they leave nothing between them. */
export function timeRange({ since, until }: RangeQuery, nowMs: number): TimeRange {
  const range = { since: instantOf("since", since, nowMs), until: instantOf("until", until, nowMs) };
  if (range.since !== undefined && range.until !== undefined && range.since >= range.until)
    throw problem("request_invalid", "`since` is not before `until`: there is nothing between them.", {
      field: "since",
    });
  return range;
}

function instantOf(field: string, text: string | undefined, nowMs: number): Date | undefined {
  if (text === undefined) return undefined;
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (number !== undefined && unit !== undefined)
    return new Date(nowMs - Number(number) * (UNIT_MS[unit] ?? 0));
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return new Date(at);
  throw problem(
    "request_invalid",
    `\`${field}\` is ${shown(text)}; expected an instant such as 2027-01-31T12:00:00Z, or an age such as 15m, 24h or 7d.`,
    { field },
  );
}
