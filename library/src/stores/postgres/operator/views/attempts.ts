import { readDetails } from "../../../../lanes/attempt-record.js";
import type { AttemptRecord } from "../../../../lanes/attempt-record.js";
import type { DeliveryPlace } from "../../../../lanes/delivery-id.js";
import { bigint, bytes, columns, instant, number, optional, text } from "../../client/columns.js";
import type { Parameter } from "../../client/database.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import type { Tables } from "../../schema/tables.js";

const ATTEMPT = columns<Omit<AttemptRecord, "details">>({
  sequence: bigint("seq"),
  round: number("round"),
  number: number("no"),
  startedAt: instant("started_at"),
  durationMs: number("duration_ms"),
  outcome: text("outcome"),
  status: optional(number("status")),
  error: optional(text("error")),
  answer: optional(bytes("answer")),
});

const DETAILS = columns<readonly (string | undefined)[]>(
  ["url", "address", "request_headers", "timings", "fingerprint"].map((name) => optional(text(name))),
);

/** Every attempt of a delivery, in order. */
export async function readAttempts(
  { transactions, tables }: StoreDatabase,
  place: DeliveryPlace,
): Promise<readonly AttemptRecord[]> {
  const [from, params] = attemptsAt(place, tables);
  const { rows } = await transactions.read({
    text: `select ${ATTEMPT.list}, ${DETAILS.list} from ${from} as tried order by tried.round, tried.no`,
    params,
  });
  return rows.map((row) => {
    const details = readDetails(Object.values(DETAILS.read(row, ATTEMPT.size)));
    return Object.assign(ATTEMPT.read(row), details);
  });
}

function attemptsAt(
  place: DeliveryPlace,
  { attempt, looseAttempt }: Tables,
): [from: string, params: Parameter[]] {
  if (place.kind === "loose") {
    return [
      `(select 0 as seq, tried.* from ${looseAttempt} as tried where delivery_id = $1::text::int8)`,
      [String(place.id)],
    ];
  }
  return [
    `(select * from ${attempt} where lane_id = $1::text::int8 and seq = $2::text::int8)`,
    [String(place.lane), String(place.sequence)],
  ];
}
