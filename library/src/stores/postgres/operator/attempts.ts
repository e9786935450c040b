import type { AttemptRecord } from "../../../lanes/attempt-record.js";
import type { DeliveryPlace } from "../../../lanes/delivery-id.js";
import type { Row } from "../client/database.js";
import { millisecondsOf } from "../inbox/inbox-row.js";
import type { OutboxTables } from "../schema/outbox-tables.js";
import type { OwnTransactions } from "../client/own-transaction.js";
import { bytesOfHex } from "../client/hex-column.js";

/** Every attempt of a delivery, in order. */
export async function readAttempts(
  transactions: OwnTransactions,
  place: DeliveryPlace,
  { attempt, looseAttempt }: OutboxTables,
): Promise<readonly AttemptRecord[]> {
  const [from, params] =
    place.kind === "lane"
      ? [
          `${attempt} where lane_id = $1::text::int8 and seq = $2::text::int8`,
          [String(place.lane), String(place.sequence)],
        ]
      : [`${looseAttempt} where delivery_id = $1::text::int8`, [String(place.id)]];
  const { rows } = await transactions.read({
    text: `
      select ${place.kind === "lane" ? "seq::text" : "'0'"}, round::text, no::text, ${millisecondsOf("started_at")},
        duration_ms::text, outcome, status::text, error, encode(answer, 'hex')
      from ${from} order by round, no`,
    params,
  });
  return rows.map(attemptOf);
}

function attemptOf(row: Row): AttemptRecord {
  const [seq, round, no, startedMs, durationMs, outcome, status, error, answer] = row;
  return {
    sequence: BigInt(seq ?? ""),
    round: Number(round),
    number: Number(no),
    startedAt: new Date(Number(startedMs)),
    durationMs: Number(durationMs),
    outcome: outcome as AttemptRecord["outcome"],
    status: typeof status === "string" ? Number(status) : undefined,
    error: error ?? undefined,
    answer: typeof answer === "string" ? bytesOfHex(answer) : undefined,
  };
}
