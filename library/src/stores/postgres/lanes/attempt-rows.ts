import { detailTexts } from "../../../lanes/attempt-record.js";
import type { AttemptRecord } from "../../../lanes/attempt-record.js";
import type { Claim } from "../../../lanes/lane-store.js";
import { withoutNul } from "../client/identifiers.js";
import type { Statement } from "../client/database.js";
import { sqlFor } from "../schema/tables.js";
import type { Tables } from "../schema/tables.js";
import type { GivenRows } from "../client/given-rows.js";
import { givenRows, numbers, texts } from "../client/given-rows.js";

/** An attempt, and the lane or the loose delivery that it belongs to. */
export interface Tried {
  readonly kind: Claim["kind"];
  readonly owner: bigint;
  readonly attempt: AttemptRecord;
  readonly details: readonly (string | undefined)[];
}

export function triedOf({ kind, owner, attempt }: Omit<Tried, "details">): Tried {
  // In a header that a host gave there may be anything; Postgres takes no NUL.
  const details = detailTexts(attempt).map((text) => (text === undefined ? undefined : withoutNul(text)));
  return { kind, owner, attempt, details };
}

/** Attempts that are given to a statement. */
export const TRIED: GivenRows<Tried> = givenRows<Tried>(
  {
    kind: texts(({ kind }) => kind),
    owner: numbers("int8", ({ owner }) => owner),
    seq: numbers("int8", ({ attempt }) => attempt.sequence),
    round: numbers("int4", ({ attempt }) => attempt.round),
    no: numbers("int4", ({ attempt }) => attempt.number),
    started_ms: numbers("float8", ({ attempt }) => attempt.startedAt.getTime()),
    tried_ms: numbers("float8", ({ attempt }) => attempt.durationMs),
    outcome: texts(({ attempt }) => attempt.outcome),
    status: numbers("int4", ({ attempt }) => attempt.status),
    error: texts(({ attempt }) => attempt.error),
    url: texts(({ details }) => details[0]),
    address: texts(({ details }) => details[1]),
    request_headers: texts(({ details }) => details[2]),
    timings: texts(({ details }) => details[3]),
    fingerprint: texts(({ details }) => details[4]),
  },
  { answer: ({ attempt }) => attempt.answer },
);

/** The columns that both tables of attempts have of them. */
const ATTEMPT_COLUMNS =
  "started_at, duration_ms, outcome, status, error, answer, url, address, request_headers, timings, fingerprint";

/** Their values. A duration that does not fit the column is written as the longest that does. */
const ATTEMPT_VALUES = `to_timestamp(started_ms / 1000), least(tried_ms, 2147483647)::int4, outcome, status, error,
        answer, url, address, request_headers, timings, fingerprint`;

/** Writes attempts at deliveries of one claim that are still in their places. */
export function insertAttempts(
  { kind, id }: Pick<Claim, "kind" | "id">,
  attempts: readonly AttemptRecord[],
  tables: Tables,
): Statement {
  const tried = attempts.map((attempt) => triedOf({ kind, owner: id, attempt }));
  return { text: INSERT(tables), params: TRIED.params(tried), prepared: true };
}

const INSERT = sqlFor(
  (tables) => `
    with tried as materialized (
      select * from ${TRIED.table("tried")}
    ), ${attemptsSql(tables)}
    select count(*)::text as count from tried`,
);

/** Two parts of a statement that has attempts as `tried`: they are written with their events. */
export function attemptsSql({ attempt, delivery, loose, looseAttempt }: Tables): string {
  return `lane_attempts as (
      insert into ${attempt} (lane_id, seq, round, no, event_id, ${ATTEMPT_COLUMNS})
      select owner, tried.seq, tried.round, no, placed.event_id, ${ATTEMPT_VALUES}
      from tried cross join lateral (
        select event_id from ${delivery} as delivery
        where tried.kind = 'lane' and delivery.lane_id = tried.owner and delivery.seq = tried.seq limit 1
      ) as placed
      on conflict (lane_id, seq, round, no) do nothing
    ), loose_attempts as (
      insert into ${looseAttempt} (delivery_id, round, no, event_id, consumer_id, ${ATTEMPT_COLUMNS})
      select owner, tried.round, no, known.event_id, known.consumer_id, ${ATTEMPT_VALUES}
      from tried cross join lateral (
        select event_id, consumer_id from ${loose} as loose
        where tried.kind = 'loose' and loose.id = tried.owner limit 1
      ) as known
      on conflict (delivery_id, round, no) do nothing
    )`;
}
