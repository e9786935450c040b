import { cursorInvalid, cursorOf, numbersOfCursor } from "../../../../operator/cursor.js";
import type { BlockedLane, Page, Paged } from "../../../../operator/operator-store.js";
import { bigint, boolean, columns, number, optional, text } from "../../client/columns.js";
import type { StoreDatabase } from "../../client/own-transaction.js";
import { stateNow } from "../../outbox/consumer-state.js";
import { sqlFor } from "../../schema/tables.js";

const CONSUMER_STATE = stateNow("consumer");

// In microseconds, until the year 2255: interval arithmetic is exact up to there.
const LAST_INSTANT = 2n ** 53n;

interface BlockedValues extends Omit<BlockedLane, "headEventId"> {
  readonly headEventId: string | undefined;
}

/** Where a lane stands in the list, and whether it is shown: one of a removed consumer is there until it is cancelled, and counts only for where the page ends. */
const STANDING = columns<{ readonly since: bigint; readonly laneId: bigint; readonly isShown: boolean }>({
  since: bigint("(extract(epoch from since) * 1000000)::int8"),
  laneId: bigint("blocked.lane_id"),
  isShown: boolean("coalesce(consumer.removed_at is null, false)"),
});

const BLOCKED = columns<BlockedValues>({
  id: bigint("blocked.lane_id"),
  // A handler belongs to no tenant, and its lanes do.
  tenant: text("case consumer.kind when 'handler' then lane.tenant else consumer.tenant end"),
  endpointId: text("consumer.public_id"),
  key: text("lane.key"),
  state: text(`case when blocked.state <> 'flowing' then blocked.state
        when ${CONSUMER_STATE} <> 'active' then ${CONSUMER_STATE} else 'retrying' end`),
  depth: bigint("next_seq - head_seq"),
  head: bigint("head_seq"),
  headEventId: optional(text("event.public_id")),
  blockedMs: number("greatest(0, extract(epoch from clock_timestamp() - since) * 1000)::int8"),
  failures: number("failures"),
  dueInMs: optional(
    // While it is leased, its ready time is the end of the lease, but its attempt is under way.
    number(`case when blocked.state = 'flowing' and ${CONSUMER_STATE} = 'active' then case when leased_by is not null then 0
        else greatest(0, extract(epoch from ready_at - clock_timestamp()) * 1000)::int8 end end`),
  ),
});

/** Lists lanes that do not move, longest blocked first. */
export async function listBlockedLanes(
  { transactions, tables }: StoreDatabase,
  { limit, after }: Page,
): Promise<Paged<BlockedLane>> {
  const [since, laneId] = numbersOfCursor(after, 2) ?? [];
  if (after !== undefined && since !== undefined && since > LAST_INSTANT) throw cursorInvalid(after);
  const cursor = since === undefined ? [null, null] : [String(since), String(laneId)];
  const { rows } = await transactions.read({ text: LIST(tables), params: [...cursor, String(limit + 1)] });
  const found = rows.slice(0, limit).map((row) => ({ standing: STANDING.read(row), row }));
  const last = found.at(-1)?.standing;
  return {
    items: found
      .filter(({ standing }) => standing.isShown)
      .map(({ row }) => shownOf(BLOCKED.read(row, STANDING.size))),
    next: rows.length > limit && last ? cursorOf(last.since, last.laneId) : undefined,
  };
}

function shownOf({ headEventId = "", ...lane }: BlockedValues): BlockedLane {
  return { ...lane, headEventId };
}

/** What comes after the page before. */
function past(since: string): string {
  return `
          ($1::text is null or (${since}, state.lane_id) > (
            timestamptz 'epoch' + $1::text::int8 * interval '1 microsecond', $2::text::int8))`;
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
        where ${CONSUMER_STATE} <> 'active' and removed_at is null and blocked_at is null and ${past("stopped_at")}
        order by stopped_at, lane_id limit $3::text::int8
      )
    )
    select ${STANDING.list}, ${BLOCKED.list}
    from blocked
    join ${consumer} as consumer on consumer.id = blocked.consumer_id
    join ${lane} as lane on lane.lane_id = blocked.lane_id
    left join ${delivery} as delivery on delivery.lane_id = blocked.lane_id and delivery.seq = blocked.head_seq
    left join ${event} as event on event.id = delivery.event_id
    order by since, blocked.lane_id limit $3::text::int8`,
);
