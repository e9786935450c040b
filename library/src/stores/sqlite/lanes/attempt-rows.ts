import { detailTexts } from "../../../lanes/attempt-record.js";
import type { AttemptRecord } from "../../../lanes/attempt-record.js";
import type { SqliteClient } from "../client/client.js";
import { storableBytes } from "../client/client.js";
import { withoutNul } from "../inbox/inbox-row.js";

/** Where the records of a delivery stand: lane 0 for one without a lane, whose id is its sequence then. */
export interface RecordPlace {
  readonly lane: bigint;
  readonly seq: bigint;
}

export function insertAttempt(
  client: SqliteClient,
  { lane, seq, event }: RecordPlace & { readonly event: bigint },
  attempt: AttemptRecord,
): void {
  client.run(
    // An answer that was lost is settled again: the row of the first time stays.
    `insert into posthorn_attempt
       (lane, seq, round, no, event, started_at, duration_ms, outcome, status, error, answer,
        url, address, request_headers, timings, fingerprint)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    lane,
    seq,
    attempt.round,
    attempt.number,
    event,
    attempt.startedAt.getTime(),
    attempt.durationMs,
    attempt.outcome,
    attempt.status ?? null,
    attempt.error === undefined ? null : withoutNul(attempt.error),
    attempt.answer === undefined ? null : storableBytes(attempt.answer),
    ...detailTexts(attempt).map((text) => (text === undefined ? null : withoutNul(text))),
  );
}
