import { numberArray, textArray } from "../client/column-arrays.js";
import type { Session } from "../client/database.js";
import type { LaneChange } from "./lane-change.js";
import { withoutNul } from "../client/identifiers.js";
import type { OutboxTables } from "../schema/outbox-tables.js";

/** Records deliveries that ended undelivered. To be called before the lanes are written, which forgets what they were. */
export async function recordEnded(
  session: Session,
  changes: readonly LaneChange[],
  tables: OutboxTables,
): Promise<void> {
  await recordDead(session, changes, tables);
  await recordCancelled(session, changes, tables);
  await disableEndpoints(session, changes, tables);
}

async function recordDead(
  session: Session,
  changes: readonly LaneChange[],
  tables: OutboxTables,
): Promise<void> {
  const ended = changes.flatMap((change) => (change.dead ? [{ ...change, dead: change.dead }] : []));
  if (ended.length === 0) return;
  await session.query({
    text: `
      insert into ${tables.dead} (endpoint_id, lane_id, seq, loose_id, event_id, round, because, attempts, last_status,
        last_error, died_at)
      select endpoint_id, case when lane then owner end, case when lane then seq end, case when not lane then owner end,
        event_id, round, because, attempts, last_status, last_error, clock_timestamp()
      from ${endedRows(tables)}
      join unnest($5::text[], $6::int4[], $7::int4[], $8::text[]) with ordinality
        as more (because, attempts, last_status, last_error, n) using (n)
      order by n`,
    params: [
      ...endedParams(ended),
      textArray(ended.map(({ dead }) => dead.because)),
      numberArray(ended.map(({ dead }) => dead.attempts)),
      numberArray(ended.map(({ dead }) => dead.last?.status)),
      textArray(ended.map(({ dead }) => dead.last?.error)),
    ],
  });
}

async function recordCancelled(
  session: Session,
  changes: readonly LaneChange[],
  tables: OutboxTables,
): Promise<void> {
  const ended = changes.filter(({ cancelled }) => cancelled !== undefined);
  if (ended.length === 0) return;
  await session.query({
    text: `
      insert into ${tables.cancelled} (endpoint_id, lane_id, seq, loose_id, event_id, round, because, cancelled_at)
      select endpoint_id, case when lane then owner end, case when lane then seq end, case when not lane then owner end,
        event_id, round, because, clock_timestamp()
      from ${endedRows(tables)}
      join unnest($5::text[]) with ordinality as more (because, n) using (n)
      order by n`,
    params: [...endedParams(ended), textArray(ended.map(({ cancelled }) => cancelled))],
  });
}

/** The parameters $1 to $4 with the event and the round of each. */
function endedRows({ delivery, loose }: OutboxTables): string {
  return `
    unnest($1::bool[], $2::int8[], $3::int8[], $4::int8[]) with ordinality
      as ended (lane, owner, seq, endpoint_id, n)
    cross join lateral (
      (
        select event_id, round from ${delivery} as delivery
        where ended.lane and delivery.lane_id = ended.owner and delivery.seq = ended.seq
      )
      union all
      (select event_id, round from ${loose} as loose where not ended.lane and loose.id = ended.owner)
    ) as placed`;
}

/** The delivery that ended is the one after those that were acknowledged. */
function endedParams(ended: readonly LaneChange[]): string[] {
  return [
    `{${ended.map(({ row }) => String(row.kind === "lane")).join(",")}}`,
    numberArray(ended.map(({ row }) => row.id)),
    numberArray(ended.map(({ head, state }) => (state === "flowing" ? head - 1n : head))),
    numberArray(ended.map(({ row }) => row.endpoint.number)),
  ];
}

/** Stops endpoints that have gone. What waits for them stays, in order. */
async function disableEndpoints(
  session: Session,
  changes: readonly LaneChange[],
  { endpoint }: OutboxTables,
): Promise<void> {
  const reasons = new Map(
    changes.flatMap(({ row, disabled }) =>
      disabled === undefined ? [] : [[row.endpoint.number, disabled] as const],
    ),
  );
  if (reasons.size === 0) return;
  // In the order of their numbers, as a later writer of several would.
  const sorted = [...reasons].toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const [number, because] of sorted) {
    await session.query({
      text: `
        update ${endpoint} set state = 'disabled', because = $2::text, version = version + 1,
          stopped_at = coalesce(stopped_at, clock_timestamp())
        where id = $1::text::int8 and state = 'active'`,
      params: [String(number), withoutNul(because)],
    });
  }
}
