import type { BlockedLane, Page, Paged } from "../../../operator/operator-store.js";
import { bigint, columns, number, optional, text } from "../client/columns.js";
import type { StoreDatabase } from "../client/own-transaction.js";
import { sqlFor } from "../schema/tables.js";

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6})_(\d{1,19})$/;

interface BlockedValues extends Omit<BlockedLane, "headEventId"> {
  readonly cursor: string;
  readonly headEventId: string | undefined;
}

const BLOCKED = columns<BlockedValues>({
  cursor: text(`to_char(since at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US') || '_' || blocked.lane_id`),
  id: bigint("blocked.lane_id"),
  tenant: text("consumer.tenant"),
  endpointId: text("consumer.public_id"),
  key: text("lane.key"),
  state: text(`case when blocked.state <> 'flowing' then blocked.state
        when consumer.state <> 'active' then consumer.state else 'retrying' end`),
  depth: bigint("next_seq - head_seq"),
  head: bigint("head_seq"),
  headEventId: optional(text("event.public_id")),
  blockedMs: number("greatest(0, extract(epoch from clock_timestamp() - since) * 1000)::int8"),
  failures: number("failures"),
  dueInMs: optional(
    // While it is leased, its ready time is the end of the lease, but its attempt is under way.
    number(`case when blocked.state = 'flowing' and consumer.state = 'active' then case when leased_by is not null then 0
        else greatest(0, extract(epoch from ready_at - clock_timestamp()) * 1000)::int8 end end`),
  ),
});

/** Lists lanes that do not move, longest blocked first. */
export async function listBlockedLanes(
  { transactions, tables }: StoreDatabase,
  { limit, after = "" }: Page,
): Promise<Paged<BlockedLane>> {
  const [, since = null, laneId = null] = CURSOR.exec(after) ?? [];
  const { rows } = await transactions.read({
    text: LIST(tables),
    params: [since, laneId, String(limit + 1)],
  });
  const listed = rows.slice(0, limit).map((row) => BLOCKED.read(row));
  return {
    items: listed.map(({ cursor: _cursor, headEventId = "", ...lane }) => ({ ...lane, headEventId })),
    next: rows.length > limit ? listed.at(-1)?.cursor : undefined,
  };
}

/** What comes after the page before. */
function past(since: string): string {
  return `
          ($1::text is null or (${since}, state.lane_id) > ($1::text::timestamp at time zone 'utc', $2::text::int8))`;
}

// Lanes whose head has failed are read in the order of their index; those of a stopped consumer all have its time.
const LIST = sqlFor(
  ({ consumer, event, lane, laneState, delivery }) => `
    with blocked as (
      (
        select state.*, blocked_at as since from ${laneState} as state
        where blocked_at is not null and ${past("blocked_at")}
        order by blocked_at, lane_id limit $3::text::int8
      )
      union all
      (
        select state.*, stopped_at as since from ${consumer} as consumer
        join ${laneState} as state on state.consumer_id = consumer.id and state.ready_at is not null
        where consumer.state <> 'active' and removed_at is null and blocked_at is null and ${past("stopped_at")}
        order by stopped_at, lane_id limit $3::text::int8
      )
    )
    select ${BLOCKED.list}
    from blocked
    join ${consumer} as consumer on consumer.id = blocked.consumer_id and removed_at is null
    join ${lane} as lane on lane.lane_id = blocked.lane_id
    left join ${delivery} as delivery on delivery.lane_id = blocked.lane_id and delivery.seq = blocked.head_seq
    left join ${event} as event on event.id = delivery.event_id
    order by since, blocked.lane_id limit $3::text::int8`,
);
