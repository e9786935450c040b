import { readDetails } from "../../../../lanes/attempt-record.js";
import type { AttemptRecord } from "../../../../lanes/attempt-record.js";
import type { DeliveryPlace } from "../../../../lanes/delivery-id.js";
import type { SqliteClient } from "../../client/client.js";
import { plainBytes } from "../../client/client.js";
import type { RecordPlace } from "../../lanes/attempt-rows.js";

/** Where the records of a delivery stand. */
export function recordPlaceOf(place: DeliveryPlace): RecordPlace {
  return place.kind === "lane" ? { lane: place.lane, seq: place.sequence } : { lane: 0n, seq: place.id };
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
  readonly url: string | null;
  readonly address: string | null;
  readonly request_headers: string | null;
  readonly timings: string | null;
  readonly fingerprint: string | null;
}

/** Every attempt of a delivery, in the order in which they were made. */
export function readAttempts(client: SqliteClient, { lane, seq }: RecordPlace): AttemptRecord[] {
  const rows = client.allWide(
    `select seq, round, no, started_at, duration_ms, outcome, status, error, answer,
       url, address, request_headers, timings, fingerprint
     from posthorn_attempt where lane = ? and seq = ? order by round, no`,
    lane,
    seq,
  ) as AttemptColumns[];
  return rows.map((row) => {
    const attempt = {
      sequence: lane === 0n ? 0n : row.seq,
      round: Number(row.round),
      number: Number(row.no),
      startedAt: new Date(Number(row.started_at)),
      durationMs: row.duration_ms,
      outcome: row.outcome,
      status: row.status === null ? undefined : Number(row.status),
      error: row.error ?? undefined,
      answer: row.answer === null ? undefined : plainBytes(row.answer),
    };
    const { url, address, request_headers, timings, fingerprint } = row;
    return Object.assign(attempt, readDetails([url, address, request_headers, timings, fingerprint]));
  });
}
