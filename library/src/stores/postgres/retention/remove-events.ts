import type { RemovalStep } from "../../../retention/retention-store.js";
import { bigint, boolean, columns, number, optional, text } from "../client/columns.js";
import type { Session } from "../client/database.js";
import type { Tables } from "../schema/tables.js";
import { sqlFor } from "../schema/tables.js";
import type { Removed } from "./removed.js";

interface GoneValues {
  readonly rows: number;
  readonly last: bigint | undefined;
  readonly more: boolean;
  readonly lanes: string;
}

const GONE = columns<GoneValues>({
  rows: number("rows"),
  last: optional(bigint("last_id")),
  more: boolean("more"),
  lanes: text("lanes"),
});

/** Removes events of which nothing is open any more, with all that is told of them. */
export async function removeEvents(
  session: Session,
  { windowMs, idWindowMs, limit, after = "0" }: RemovalStep,
  tables: Tables,
): Promise<Removed> {
  const idsMs = idWindowMs === undefined || idWindowMs === Infinity ? null : String(idWindowMs);
  const { rows } = await session.query({
    text: REMOVE(tables),
    params: [after, String(limit), String(windowMs), idsMs],
    prepared: true,
  });
  const gone = GONE.read(rows[0] ?? []);
  return {
    rows: gone.rows,
    next: gone.more && gone.last !== undefined ? String(gone.last) : undefined,
    lanes: lanesOf(gone.lanes),
  };
}

/** Numbers as Postgres writes an array of them. */
export function lanesOf(array: string): readonly bigint[] {
  return array.slice(1, -1).split(",").filter(Boolean).map(BigInt);
}

/** Milliseconds of a parameter, as an interval. */
export function intervalSql(parameter: string): string {
  return `make_interval(secs => ${parameter}::text::float8 / 1000)`;
}

// One snapshot with what removes them: an event whose redrive is being given its place has either a staged row or a
// delivery there. What points to an old event and has no index by event is read once, between the first and the last
// event of the step: the stage, and what waits without a lane. A dead letter holds its event until it is removed itself.
function goingSql(tables: Tables): string {
  return `
    with clock as materialized (
      select clock_timestamp() as at
    ), looked as materialized (
      select id, public_id, tenant, source, key, receipt is not null as is_stored, deliver_at, written_at
      from ${tables.event} where id > $1::text::int8 order by id limit $2::text::int8
    ), old as materialized (
      select looked.* from looked cross join clock where written_at <= at - ${intervalSql("$3")}
    ), bounds as materialized (
      select min(id) as low, max(id) as high from old
    ), staged as materialized (
      select event_id from ${tables.stage} where event_id between (select low from bounds) and (select high from bounds)
    ), loose as materialized (
      select event_id from ${tables.loose}
      where ready_at is not null and event_id between (select low from bounds) and (select high from bounds)
    ), going as materialized (
      select old.* from old cross join clock
      where coalesce(deliver_at, written_at) <= at - ${intervalSql("$3")}
        and not exists (select from ${tables.delivery} as held where held.event_id = old.id)
        and not exists (select from loose where loose.event_id = old.id)
        and not exists (select from staged where staged.event_id = old.id)
        and not exists (
          select from ${tables.later} as later where later.deliver_at = old.deliver_at and later.event_id = old.id
        )
        and not exists (select from ${tables.held} as waiting where waiting.event_id = old.id)
        and not exists (
          select from ${tables.stageDead} as aside where aside.event_id = old.id and aside.resolved_at is null
        )
        and not exists (select from ${tables.dead} as dead where dead.event_id = old.id)
    )`;
}

// What a handler has applied leaves no record that names its lane, as an attempt does: it is looked up by its name. Where a
// younger event of the key is there, it may be removed with the older one; the next event makes it again, as any that is gone.
const REMOVE = sqlFor(
  (tables) => `${goingSql(tables)}, handler as materialized (
      select id from ${tables.consumer} where tenant = '' and kind = 'handler' and removed_at is null
    ), named as materialized (
      select distinct tenant, source, key from going where is_stored and key is not null
    ), handled as materialized (
      select found.lane_id from named cross join handler cross join lateral (
        select lane_id from ${tables.lane} as lane
        where lane.consumer_id = handler.id and lane.tenant = named.tenant and lane.source = named.source
          and lane.key = named.key limit 1
      ) as found
    ), gone as (
      delete from ${tables.event} as event using going where event.id = going.id returning 1
    ), tried as materialized (
      select lane_id, seq, round from going join ${tables.attempt} as first on first.event_id = going.id and first.no = 1
    ), attempts as (
      delete from ${tables.attempt} as attempt using tried
      where attempt.lane_id = tried.lane_id and attempt.seq = tried.seq and attempt.round = tried.round
      returning attempt.lane_id
    ), loose_tried as materialized (
      select delivery_id, round
      from going join ${tables.looseAttempt} as first on first.event_id = going.id and first.no = 1
    ), loose_attempts as (
      delete from ${tables.looseAttempt} as attempt using loose_tried
      where attempt.delivery_id = loose_tried.delivery_id and attempt.round = loose_tried.round returning 1
    ), cancelled as (
      delete from ${tables.cancelled} as cancelled using going where cancelled.event_id = going.id
      returning cancelled.lane_id
    ), steps as (
      delete from ${tables.step} as step using going
      where step.stored_as = going.public_id and step.tenant = going.tenant returning 1
    ), forgotten as (
      delete from ${tables.outboxKey} as given using going cross join clock
      where given.tenant = going.tenant and given.public_id = going.public_id
        and written_at <= at - ${intervalSql("$4")} returning 1
    ), remembered as (
      update ${tables.outboxKey} as given set keep_until = written_at + ${intervalSql("$4")} from going cross join clock
      where given.tenant = going.tenant and given.public_id = going.public_id
        and written_at > at - ${intervalSql("$4")}
    )
    select ${GONE.list} from (
      select (select count(*) from gone) + (select count(*) from attempts) + (select count(*) from loose_attempts)
          + (select count(*) from cancelled) + (select count(*) from steps) + (select count(*) from forgotten) as rows,
        (select max(id) from looked) as last_id,
        (select count(*) = $2::text::int8 from old) as more,
        array(
          select lane_id from attempts union select lane_id from cancelled where lane_id is not null
          union select lane_id from handled
        )::text as lanes
    ) as done`,
);
