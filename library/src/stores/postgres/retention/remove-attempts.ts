import type { RemovalStep } from "../../../retention/retention-store.js";
import { bigint, boolean, columns, number, optional, text } from "../client/columns.js";
import type { Session } from "../client/database.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";
import { intervalSql, lanesOf } from "./remove-events.js";
import type { Removed } from "./removed.js";

interface PassedValues {
  readonly rows: number;
  readonly last: bigint | undefined;
  readonly more: boolean;
  readonly lanes: string;
}

const PASSED = columns<PassedValues>({
  rows: number("rows"),
  last: optional(bigint("last_id")),
  more: boolean("more"),
  lanes: text("lanes"),
});

/**
 * Removes attempts, or their answers, of events that are old enough but stay. Each event is looked at once: what is open
 * then goes with its event.
 */
export async function removeAttempts(
  session: Session,
  { kind, windowMs, limit }: RemovalStep,
  tables: Tables,
): Promise<Removed> {
  const remove = kind === "answers" ? EMPTY_ANSWERS : REMOVE;
  const { rows } = await session.query({
    text: remove(tables),
    params: [kind, String(limit), String(windowMs)],
    prepared: true,
  });
  const passed = PASSED.read(rows[0] ?? []);
  const { last } = passed;
  return {
    rows: passed.rows,
    next: passed.more && last !== undefined ? String(last) : undefined,
    lanes: lanesOf(passed.lanes),
    upTo: last,
  };
}

/** First attempts of deliveries that have ended and are not dead, or whose dead letter is resolved. */
function triedSql({ retention, event, attempt, looseAttempt, delivery, loose, dead }: Tables): string {
  return `
    with clock as materialized (
      select clock_timestamp() - ${intervalSql("$3")} as cutoff
    ), looked as materialized (
      select id, written_at from ${event}
      where id > coalesce((select up_to from ${retention} where kind = $1::text), 0)
      order by id limit $2::text::int8
    ), old as materialized (
      select id from looked cross join clock where written_at <= cutoff
    ), tried as materialized (
      select first.lane_id, first.seq, first.round
      from old join ${attempt} as first on first.event_id = old.id and first.no = 1
      where not exists (
          select from ${delivery} as held where held.lane_id = first.lane_id and held.seq = first.seq
        )
        and not exists (
          select from ${dead} as dead where dead.lane_id = first.lane_id and dead.seq = first.seq
            and dead.resolved_at is null
        )
    ), loose_tried as materialized (
      select first.delivery_id, first.round
      from old join ${looseAttempt} as first on first.event_id = old.id and first.no = 1
      where not exists (select from ${loose} as held where held.id = first.delivery_id)
    )`;
}

function reportSql(lanes: string): string {
  return `
    select ${PASSED.list} from (
      select (select count(*) from attempts) + (select count(*) from loose_attempts) as rows,
        (select max(id) from old) as last_id,
        (select count(*) = $2::text::int8 from old) as more,
        ${lanes} as lanes
    ) as done`;
}

const REMOVE = sqlFor(
  (tables) => `${triedSql(tables)}, attempts as (
      delete from ${tables.attempt} as attempt using tried
      where attempt.lane_id = tried.lane_id and attempt.seq = tried.seq and attempt.round = tried.round
      returning attempt.lane_id
    ), loose_attempts as (
      delete from ${tables.looseAttempt} as attempt using loose_tried
      where attempt.delivery_id = loose_tried.delivery_id and attempt.round = loose_tried.round returning 1
    )
    ${reportSql("array(select distinct lane_id from attempts)::text")}`,
);

const EMPTY_ANSWERS = sqlFor(
  (tables) => `${triedSql(tables)}, attempts as (
      update ${tables.attempt} as attempt set answer = null from tried
      where attempt.lane_id = tried.lane_id and attempt.seq = tried.seq and attempt.round = tried.round
        and answer is not null
      returning 1
    ), loose_attempts as (
      update ${tables.looseAttempt} as attempt set answer = null from loose_tried
      where attempt.delivery_id = loose_tried.delivery_id and attempt.round = loose_tried.round
        and answer is not null
      returning 1
    )
    ${reportSql("'{}'")}`,
);
