import type { RemovalStep } from "../../../retention/retention-store.js";
import { columns, number, text } from "../client/columns.js";
import type { Session } from "../client/database.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";
import { intervalSql, lanesOf } from "./remove-events.js";
import type { Removed } from "./removed.js";

interface EndedValues {
  readonly found: number;
  readonly rows: number;
  readonly lanes: string;
}

const ENDED = columns<EndedValues>({
  found: number("found"),
  rows: number("rows"),
  lanes: text("lanes"),
});

type EndedKind = "dead" | "cancelled" | "set_aside" | "ids";

/** Removes records that stand for themselves, oldest first: none of them is held by anything. */
export async function removeEnded(
  session: Session,
  { kind, windowMs, limit }: RemovalStep,
  tables: Tables,
): Promise<Removed> {
  const { rows } = await session.query({
    text: REMOVE[kind as EndedKind](tables),
    params: [String(limit), String(windowMs)],
    prepared: true,
  });
  const { found, rows: removed, lanes } = ENDED.read(rows[0] ?? []);
  return { rows: removed, next: found === limit ? kind : undefined, lanes: lanesOf(lanes) };
}

const CUTOFF = `(select clock_timestamp() - ${intervalSql("$2")})`;

// A record of an end takes the attempts of its round along: without it they would tell of a delivery that was made.
function removeDeliveries(table: string, since: string, { attempt, looseAttempt }: Tables): string {
  return `
    with going as materialized (
      select id, lane_id, seq, loose_id, round from ${table}
      where ${since} <= ${CUTOFF} order by ${since} limit $1::text::int8
    ), gone as (
      delete from ${table} as ended using going where ended.id = going.id returning 1
    ), attempts as (
      delete from ${attempt} as attempt using going
      where attempt.lane_id = going.lane_id and attempt.seq = going.seq and attempt.round = going.round returning 1
    ), loose_attempts as (
      delete from ${looseAttempt} as attempt using going
      where attempt.delivery_id = going.loose_id and attempt.round = going.round returning 1
    )
    select ${ENDED.list} from (
      select (select count(*) from going) as found,
        (select count(*) from gone) + (select count(*) from attempts) + (select count(*) from loose_attempts) as rows,
        array(select distinct lane_id from going where lane_id is not null)::text as lanes
    ) as done`;
}

function removeAlone(table: string, since: string, cutoff: string): string {
  return `
    with gone as (
      delete from ${table} where ctid = any (array(
        select ctid from ${table} where ${since} <= ${cutoff} order by ${since} limit $1::text::int8
        for update skip locked
      )) returning 1
    )
    select ${ENDED.list} from (select count(*) as found, count(*) as rows, '{}' as lanes from gone) as done`;
}

const REMOVE: Readonly<Record<EndedKind, (tables: Tables) => string>> = {
  dead: sqlFor((tables) => removeDeliveries(tables.dead, "resolved_at", tables)),
  cancelled: sqlFor((tables) => removeDeliveries(tables.cancelled, "cancelled_at", tables)),
  set_aside: sqlFor(({ stageDead }) => removeAlone(stageDead, "resolved_at", CUTOFF)),
  ids: sqlFor(({ outboxKey }) => removeAlone(outboxKey, "keep_until", CUTOFF)),
};
