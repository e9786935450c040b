import type { JSX } from "preact";
import { age, clockTime, duration, fromNow, fullTime } from "../words/format.ts";
import { now } from "../api/live.ts";

interface TimeProps {
  /** ISO 8601. */
  readonly at: string;
}

/** `41 s ago`; the exact time when one points at it. */
export function Ago({ at }: TimeProps): JSX.Element {
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={fullTime(ms)}>
      {fromNow(ms, now.value)}
    </time>
  );
}

/** `41 s`, for columns that say so in their head. */
export function Age({ at }: TimeProps): JSX.Element {
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={fullTime(ms)}>
      {age(now.value - ms)}
    </time>
  );
}

/** `07:39:01.118`. */
export function Clock({ at }: TimeProps): JSX.Element {
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={`${fullTime(ms)}, ${fromNow(ms, now.value)}`}>
      {clockTime(ms, now.value)}
    </time>
  );
}

/** How long something has lasted that the API gives as milliseconds. */
export function Lasting({ ms }: { readonly ms: number }): JSX.Element {
  return <span title={`since ${fullTime(now.value - ms)}`}>{duration(ms)}</span>;
}
