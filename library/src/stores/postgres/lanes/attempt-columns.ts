import type { AttemptRecord } from "../../../lanes/attempt-record.js";
import { numberArray, packBytes, textArray } from "../client/column-arrays.js";
import type { Parameter } from "../client/database.js";

/** An attempt, and the lane or the loose delivery that it belongs to. */
export interface Tried {
  readonly owner: bigint;
  readonly attempt: AttemptRecord;
}

/** The parameters from `$from` on, 12 of them, as rows. */
export function triedRows(from: number): string {
  const $ = (offset: number): string => `$${from + offset}`;
  return `
    unnest(${$(0)}::int8[], ${$(1)}::int8[], ${$(2)}::int4[], ${$(3)}::int4[], ${$(4)}::float8[], ${$(5)}::float8[],
      ${$(6)}::text[], ${$(7)}::int4[], ${$(8)}::text[], ${$(9)}::int4[], ${$(10)}::int4[])
    as tried (owner, seq, round, no, started_ms, duration_ms, outcome, status, error, answer_start, answer_length)`;
}

/** What of {@link triedRows} the tables of attempts have as started_at, duration_ms, outcome, status, error, answer. */
export function triedValues(from: number): string {
  return `to_timestamp(started_ms / 1000), least(duration_ms, 2147483647)::int4, outcome, status, error,
      substring($${from + 11}::bytea from answer_start for answer_length)`;
}

export const TRIED_PARAMS = 12;

export function triedParams(tried: readonly Tried[]): Parameter[] {
  const numbers = (of: (attempt: AttemptRecord) => number | bigint | undefined): string =>
    numberArray(tried.map(({ attempt }) => of(attempt)));
  const answers = packBytes(tried.map(({ attempt }) => attempt.answer));
  return [
    numberArray(tried.map(({ owner }) => owner)),
    numbers(({ sequence }) => sequence),
    numbers(({ round }) => round),
    numbers(({ number }) => number),
    numbers(({ startedAt }) => startedAt.getTime()),
    numbers(({ durationMs }) => durationMs),
    textArray(tried.map(({ attempt }) => attempt.outcome)),
    numbers(({ status }) => status),
    textArray(tried.map(({ attempt }) => attempt.error)),
    answers.starts,
    answers.lengths,
    answers.bytes,
  ];
}
