import type { AttemptRecord } from "../../../lanes/attempt-record.js";
import type { SqliteClient } from "../client/client.js";
import { plainBytes, storableBytes } from "../client/client.js";
import { withoutNul } from "../inbox/inbox-row.js";

/** Where the rows of a delivery stand: lane 0 for one without a lane, whose id is its sequence then. */
export interface RowPlace {
  readonly lane: bigint;
  readonly seq: bigint;
  readonly event: bigint;
}

export function insertAttempt(client: SqliteClient, place: RowPlace, attempt: AttemptRecord): void {
  client.run(
    // An answer that was lost is settled again: the row of the first time stays.
    `insert into posthorn_attempt
       (lane, seq, round, no, event, started_at, duration_ms, outcome, status, error, answer)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    place.lane,
    place.seq,
    attempt.round,
    attempt.number,
    place.event,
    attempt.startedAt.getTime(),
    attempt.durationMs,
    attempt.outcome,
    attempt.status ?? null,
    attempt.error === undefined ? null : withoutNul(attempt.error),
    attempt.answer === undefined ? null : storableBytes(attempt.answer),
  );
}

interface AttemptColumns {
  readonly seq: bigint;
  readonly round: bigint;
  readonly no: bigint;
  readonly started_at: bigint;
  readonly duration_ms: number;
  readonly outcome: AttemptRecord["outcome"];
  readonly status: bigint | null;
  readonly error: string | null;
  readonly answer: Uint8Array | null;
}

/** Every attempt of a delivery, in the order in which they were made. */
export function readAttempts(client: SqliteClient, { lane, seq }: Omit<RowPlace, "event">): AttemptRecord[] {
  const rows = client.allWide(
    `select seq, round, no, started_at, duration_ms, outcome, status, error, answer
     from posthorn_attempt where lane = ? and seq = ? order by round, no`,
    lane,
    seq,
  ) as AttemptColumns[];
  return rows.map((row) => ({
    sequence: lane === 0n ? 0n : row.seq,
    round: Number(row.round),
    number: Number(row.no),
    startedAt: new Date(Number(row.started_at)),
    durationMs: row.duration_ms,
    outcome: row.outcome,
    status: row.status === null ? undefined : Number(row.status),
    error: row.error ?? undefined,
    answer: row.answer === null ? undefined : plainBytes(row.answer),
  }));
}

/** The record of a claim that ended by expiry: all that is known of it is its lease. */
export function lapsedAttempt(
  attempt: Pick<AttemptRecord, "sequence" | "round" | "number">,
  lease: { readonly leasedAt: number | null; readonly leasedUntil: number | null },
): AttemptRecord {
  const { leasedAt, leasedUntil } = lease;
  const fromMs = leasedAt ?? 0;
  const durationMs = (leasedUntil ?? fromMs) - fromMs;
  const nothing = { status: undefined, error: undefined, answer: undefined };
  return { ...attempt, startedAt: new Date(fromMs), durationMs, outcome: "lapsed", ...nothing };
}
