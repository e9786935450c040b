import type { Session } from "./database.js";
import type { OutboxTables } from "./outbox-tables.js";
import type { OwnTransactions } from "./own-transaction.js";

// Few enough that nobody waits long for the locks of one transaction.
const LANES_AT_ONCE = 500;

/** Cancels what waits for an endpoint that was removed, a part at a time. Nothing of it is claimed any more. */
export async function removeRest(
  transactions: OwnTransactions,
  endpoint: string,
  tables: OutboxTables,
): Promise<void> {
  for (const step of [cancelLanes, cancelLoose]) {
    while ((await transactions.run((session) => step(session, endpoint, tables), "fresh")) > 0);
  }
}

async function cancelLanes(
  session: Session,
  endpoint: string,
  { lane, laneState, delivery, cancelled }: OutboxTables,
): Promise<number> {
  const { rows } = await session.query({
    text: `
      with gone as materialized (
        select lane_id from ${lane} where endpoint_id = $1::text::int8 order by lane_id limit ${LANES_AT_ONCE}
      ), locked as materialized (
        select state.* from gone cross join lateral (
          select lane_id, head_seq, state.state from ${laneState} as state where state.lane_id = gone.lane_id for update
        ) as state
      ), ended as (
        delete from ${delivery} as delivery using locked where delivery.lane_id = locked.lane_id
        returning delivery.lane_id, seq, event_id, round, seq = head_seq and state in ('halted', 'parked') as is_dead
      ), recorded as (
        insert into ${cancelled} (endpoint_id, lane_id, seq, event_id, round, because, cancelled_at)
        select $1::text::int8, lane_id, seq, event_id, round, 'endpoint_removed', clock_timestamp()
        from ended where not is_dead
      ), stateless as (
        delete from ${laneState} as state using locked where state.lane_id = locked.lane_id
      ), unnamed as (
        delete from ${lane} as lane using gone where lane.lane_id = gone.lane_id returning 1
      )
      select count(*)::text from unnamed`,
    params: [endpoint],
  });
  return Number(rows[0]?.[0] ?? 0);
}

async function cancelLoose(
  session: Session,
  endpoint: string,
  { loose, cancelled }: OutboxTables,
): Promise<number> {
  const { rows } = await session.query({
    text: `
      with gone as materialized (
        select id from ${loose} where endpoint_id = $1::text::int8 and ready_at is not null
        order by id limit ${LANES_AT_ONCE} for update
      ), ended as (
        delete from ${loose} as loose using gone where loose.id = gone.id returning loose.id, event_id, round
      ), recorded as (
        insert into ${cancelled} (endpoint_id, loose_id, event_id, round, because, cancelled_at)
        select $1::text::int8, id, event_id, round, 'endpoint_removed', clock_timestamp() from ended returning 1
      )
      select count(*)::text from recorded`,
    params: [endpoint],
  });
  return Number(rows[0]?.[0] ?? 0);
}
